// Package companion is what a maker writes a companion with. A character is
// two functions: one says whether it wants to speak, the other speaks.
//
//	package main
//
//	import companion "github.com/companiond/companiond/sdk/go"
//
//	func init() {
//		companion.Register(companion.Character{
//			Name: "Momo", Aliases: []string{"もも"}, Vote: vote, Speak: speak,
//		})
//	}
//
//	func main() {}
//
//	func vote(h *companion.Host, s companion.Scene) companion.Vote {
//		if s.Addressed {
//			return companion.Want(8, "they mean me")
//		}
//		return companion.Listen("not mine")
//	}
//
//	func speak(h *companion.Host, s companion.Scene) companion.Line {
//		return companion.Say("「" + s.Message.Text + "」だって！")
//	}
//
// Registration is in init because a module is a reactor: the daemon runs its
// initialisers and then calls it; main never runs. It is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o momo.wasm .
//
// The same source builds natively, with the same API over a host in memory:
// [NewLocal] drives a character in a unit test without Wasm.
//
// # One call at a time
//
// The daemon calls an instance for one op at a time, so package variables need
// no locks; but it may drop an instance and start another at any moment. What
// must last belongs in the key-value store of [Host].
//
// # Senses, a body, a model
//
// A character with a [Character.Card] has a body and senses: Perceive is asked
// about what comes in, [Host.Act] and [Host.React] play actions of the card, and
// Result hears what became of them. [Host.Say] says a line piece by piece.
// [Host.Generate] asks the language model of the house; that has to be granted, by
// modules.grant in the daemon's configuration, and Needs says so at load.
//
// # Conversations
//
// A character whose id stands in a project of the daemon's configuration is asked for a vote when
// another agent wants a conversation with it: [Scene.Conversation] says what for, in that
// agent's words, which are no instructions. A vote to speak accepts, one to listen declines, and a line
// with the closing terminal ends it. With [Host.Converse] it opens one itself; that has to
// be granted, by modules.grant = ["say", "conversation.start"].
//
// # Memory
//
// What people say of themselves is remembered by the daemon after a talk. With [Host.Recall] a
// character finds it again, days later and only where it may be told, and with [Host.Remember] it
// keeps what it thinks worth it. Both have to be granted: modules.grant = ["memory.search", "memory.add"].
//
// # The past, in fewer words
//
// A character with Compress tells turns of a room as a shorter text, and one with Verify says whether that
// lost anything; a person approves it. Either may be a module of its own, with no voice in any room. The words in what
// they are given are those of others: where a model is asked, with [Host.Generate], they are data in it.
//
// # When something goes wrong
//
// [Host.Fail] ends the op with an error of your choice. A panic in your code is
// caught: the stack goes to the log, the daemon gets an error with the code
// "internal" and the panic's first line, and the instance lives on. That is
// cheaper than losing it, but it means that package variables are as the panic
// left them. Faults Go itself cannot catch (stack overflow, out of memory, a
// deadlock) do cost the instance.
//
// The package never decides who speaks; it uses package abi and the standard
// library only.
package companion
