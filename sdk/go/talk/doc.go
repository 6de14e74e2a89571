// Package talk plays characters that speak without a language model: a
// character is written as a plain text script ([New]), so that a maker writes
// lines and not code. The daemon plays files of it, NAME.talk.txt, with this package;
// docs/TALK.md is what their makers read.
//
// # Scripts
//
// A script has a head of "key: value" lines and sections of lines to say:
//
//	lang: ja
//	name: Momo
//	aliases: もも モモ
//	calls: aya=アヤさん          how it calls others, by id
//	human: {name}さん            how it calls people whose name it knows
//	likes: cat=3 food=1          topics that make it want to speak
//	after: aya=1                 whose lines make it want to speak
//	habit: tell=1 ask=2 react=3  what it rather does
//
//	[*]                          lines for any topic
//	greet: {hi}ももだよ！
//	[cat]                        lines about a topic
//	tell: 猫は液体だと思うんだ。
//	ask @aya 液体: {aya}、猫は液体なの？
//	answer 好き: 猫？大好き！
//
// A row "lang:" behind a section begins a script for another language in the same text.
//
// A line is "act @target words: text". Words, where given, must be found in
// what was heard (one is enough); a line with a target goes to that companion
// and is said only while it is in the room, like a line that names one as
// {aya}. {who} is the last speaker, {human} the person, {quote} a phrase of the
// last speaker, {word} what a question was about, {hi} the greeting that
// answers the person's, {first} and {last} topics of the talk. A line whose
// placeholders cannot be filled is not said. No line is said twice in a room
// until three quarters of the script have been; farewells and answers to people
// may come back when nobody in the room can remember them.
//
// What a person told of themselves is brought up by "recall" lines when they come back, by what the daemon remembers
// of them ([companion.Host.Recall], which modules have to be granted); "knows" and "forgot" answer who asks for it, and
// "self" lines who asks about the character. Package person says what each of these may be about.
//
// A person who writes of wanting to die or of hurting themselves gets one of the
// "distress" lines in [*], alone, from one companion; the others keep quiet until
// a person writes again, and for a while nobody jokes. "grave" lines do the same
// where suicide is spoken of as others'. Such a line has no placeholder and may
// come again. Where a script has none, the package has one; write your own in the
// character's voice: serious, plain, naming somebody to talk to.
//
// In a room with a pool, lines keep to what it can pay for, and "nod" lines in
// [*] (なるほど, I see) are said beside others now and then.
//
// Invited to a conversation between agents, it comes where it has a line for what it
// was written, or for the purpose. Half way to the last of 16 messages or more it begins
// to say goodbye, and leaves when it has; a shorter one it talks to its end.
//
// It reads no clock and keeps what must last in the companion's store; it
// never decides who speaks.
package talk
