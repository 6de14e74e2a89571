// What a character in JavaScript may import as "companion": what makers in Go have in sdk/go/words and sdk/go/talk, with the
// same answers. It makes sense of what people say in Japanese and English without a language model, keeps what a character
// knows of people, and picks lines that do not repeat.
//
// It never decides who speaks.

// Topics that people talk about, and what gives them away, in normal form. They are those of sdk/go/words, whose test
// writes them here: go test ./sdk/js -update
const shared = {
  p2p: ["p2p", "ぴあつーぴあ", "ぴあ", "peer-to-peer", "peer to peer", "peer", "libp2p", "のーど同士", "bittorrent", "torrent"],
  dist: ["分散しすてむ", "分散", "中央集権", "一極集中", "distributed", "decentralized", "decentralised", "decentralization", "cap定理", "さーばー", "さーば", "server", "ねっとわーく", "network"],
  consensus: ["合意", "raft", "paxos", "こんせんさす", "りーだー選挙", "多数決", "consensus", "quorum", "leader election", "投票", "majority vote"],
  chain: ["ぶろっくちぇーん", "びっとこいん", "仮想通貨", "暗号資産", "nft", "いーさりあむ", "blockchain", "bitcoin", "crypto", "ethereum", "台帳", "ledger"],
  privacy: ["ぷらいばしー", "でーた主権", "個人情報", "個人でーた", "監視", "検閲", "ぱすわーど", "暗号", "privacy", "personal data", "surveillance", "password", "encryption"],
  failure: ["障害", "故障", "ばぐ", "落ちた", "止まった", "復旧", "いんしでんと", "えらー", "ばっくあっぷ", "failure", "outage", "bug", "crash", "backup", "incident"],
  cat: ["猫", "ねこ", "にゃん", "子猫", "犬", "いぬ", "ぺっと", "肉球", "cat", "kitten", "kitty", "dog", "pet"],
  food: ["らーめん", "ごはん", "ご飯", "食べ", "お腹", "おなか", "料理", "かれー", "寿司", "すし", "お菓子", "おやつ", "けーき", "焼肉", "餃子", "うどん", "ぷりん", "らんち", "夕飯", "朝食", "ramen", "food", "eat", "hungry", "lunch", "dinner", "breakfast", "curry", "sushi", "cook", "cooking", "cake", "noodle"],
  weather: ["天気", "雨", "晴れ", "晴れて", "雪", "台風", "暑い", "暑かった", "寒い", "寒かった", "気温", "傘", "weather", "rain", "raining", "rainy", "sunny", "snow", "storm", "umbrella", "cold day", "hot day"],
  music: ["音楽", "歌", "曲", "らいぶ", "ぎたー", "ぴあの", "ばんど", "からおけ", "作曲", "music", "song", "sing", "singing", "guitar", "piano", "band", "karaoke", "concert"],
  game: ["げーむ", "げーむ", "まいくら", "ぽけもん", "rpg", "ぼす戦", "らすぼす", "がちゃを", "がちゃで", "がちゃが", "がちゃは", "がちゃの", "がちゃ引", "がちゃ回", "game", "gaming", "minecraft", "pokemon", "boss fight"],
  stream: ["配信", "vtuber", "ぶいちゅーばー", "すとりーまー", "こめんと欄", "すぱちゃ", "あばたー", "りすなー", "stream", "streaming", "streamer", "youtube", "twitch", "avatar"],
  sleep: ["眠い", "ねむい", "眠た", "眠り", "眠さ", "寝る", "寝れ", "寝不足", "眠れ", "睡眠", "昼寝", "徹夜", "夜更かし", "布団", "sleepy", "sleep", "tired", "nap", "insomnia", "dream"],
  study: ["勉強", "宿題", "試験", "てすと勉強", "受験", "学校", "大学", "授業", "study", "studying", "homework", "exam", "school", "university", "learn", "learning"],
  work: ["仕事", "会社", "残業", "上司", "会議", "締め切り", "締切", "転職", "給料", "在宅", "work", "job", "boss", "office", "meeting", "deadline", "overtime", "salary"],
  ai: ["ai", "人工知能", "こんぱにおん", "llm", "機械学習", "ろぼっと", "chatgpt", "companion", "robot", "artificial intelligence", "machine learning", "language model"],
};

// wanted holds a value to what it is to be, or throws so that its maker reads where.
function wanted(who, what, value, kind) {
  const is = Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
  if (is !== kind) throw new TypeError(`${who}: ${what} is ${is === "undefined" ? "not given" : `no ${kind === "string" ? "text" : kind}`}`);
  return value;
}

const clip = /^\p{White_Space}+|\p{White_Space}+$/gu;
const trim = text => text.replace(clip, "");
const size = c => { const r = c.codePointAt(0); return r < 0x80 ? 1 : r < 0x800 ? 2 : r < 0x10000 ? 3 : 4; };
const characters = text => [...text].length;

// lower is the small letter of one; a letter stays one letter.
const lower = c => String.fromCodePoint(c.toLowerCase().codePointAt(0));

const halfKana = [..."をぁぃぅぇぉゃゅょっーあいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわん"];

// fold maps one character to its normal form.
function fold(c) {
  const r = c.codePointAt(0);
  if (r >= 0x41 && r <= 0x5a) return String.fromCharCode(r + 0x20);
  if (r < 0x80 && r > 0x20 || r >= 0x3041 && r <= 0x309f || r >= 0x3400 && r <= 0x9fff) return c;
  if (/\p{White_Space}/u.test(c)) return " ";
  if (r >= 0xff01 && r <= 0xff5e) return lower(String.fromCharCode(r - 0xff01 + 0x21)); // full width
  if (r >= 0x30a1 && r <= 0x30f6) return String.fromCharCode(r - 0x60); // katakana
  if (r >= 0xff66 && r <= 0xff9d) return halfKana[r - 0xff66];
  return lower(c);
}

// normal folds what does not change a word: case, full and half width, katakana and hiragana, runs of spaces.
export function normal(text) {
  let out = "", space = false;
  for (const c of wanted("normal", "what it is given", text, "string")) {
    const folded = fold(c);
    if (folded === " ") {
      space = out !== "";
      continue;
    }
    out += space ? ` ${folded}` : folded;
    space = false;
  }
  return out;
}

const inWord = c => c >= "a" && c <= "z" || c >= "0" && c <= "9";

// standsAlone says whether the word at text[i] is not the middle of a Latin one.
function standsAlone(text, word, i) {
  let end = i + word.length;
  if (inWord(word[0]) && i > 0 && inWord(text[i - 1])) return false;
  if (!inWord(word[word.length - 1])) return true;
  if (text[end] === "s") end++;
  return end >= text.length || !inWord(text[end]);
}

// has says whether a text in normal form has a word in normal form. A Latin word must stand alone (a plural s is allowed), so
// that "cat" is not in "education".
export function has(text, word) {
  wanted("has", "the text", text, "string");
  wanted("has", "the word", word, "string");
  for (let i = 0; word !== "" && (i = text.indexOf(word, i)) >= 0; i += word.length) if (standsAlone(text, word, i)) return true;
  return false;
}

// lexicon has the words of topics by their first characters.
function lexicon(list) {
  const all = new Map();
  for (const [topic, words] of Object.entries(list)) {
    for (const word of wanted("topics", `the words of ${topic}`, words, "list")) {
      const w = normal(word), [first] = w;
      if (!all.has(first)) all.set(first, []);
      all.get(first).push([w, topic]);
    }
  }
  all.delete(undefined); // an empty word
  return all;
}

const lexicons = new WeakMap();
const none = {}, nothing = [];

// wordsOf makes the lexicon of a list once.
function wordsOf(list) {
  if (!lexicons.has(list)) lexicons.set(list, lexicon(list));
  return lexicons.get(list);
}

// topics gives the topics of a text: the one with most words first, then the one that comes first. Own ones are {tea: ["お茶",
// "tea"]}.
export function topics(text, own = none) {
  const said = normal(wanted("topics", "what it is given", text, "string")), hits = [];
  const lists = [shared, wanted("topics", "what there is besides", own, "object")].map(wordsOf);
  let place = 0;
  for (const c of said) {
    for (const words of lists) for (const [word, topic] of words.get(c) ?? nothing) {
      if (!said.startsWith(word, place) || !standsAlone(said, word, place)) continue;
      const hit = hits.find(h => h.topic === topic);
      if (hit) hit.words.add(word);
      else hits.push({ topic, words: new Set([word]), place });
    }
    place += c.length;
  }
  return hits.sort((a, b) => b.words.size - a.words.size || a.place - b.place).map(h => h.topic);
}

const isKana = r => r >= 0x3041 && r <= 0x3096 || r >= 0x30a1 && r <= 0x30fa || r === 0x30fc || r >= 0xff66 && r <= 0xff9d;
const isHan = r => r >= 0x3400 && r <= 0x9fff || r === 0x3005 || r > 0x9fff && /\p{Script=Han}/u.test(String.fromCodePoint(r));
const isLatin = r => r >= 0x41 && r <= 0x5a || r >= 0x61 && r <= 0x7a || r >= 0xff21 && r <= 0xff5a;

// language guesses the language of a text: "ja" by its scripts, "en" by Latin words, "" where there is neither.
export function language(text) {
  let japanese = 0, words = 0, within = false;
  for (const c of wanted("language", "what it is given", text, "string")) {
    const r = c.codePointAt(0), latin = isLatin(r);
    if (latin && !within) words++;
    within = latin || within && (c === "'" || c === "’");
    if (isKana(r) || isHan(r)) japanese++;
  }
  return japanese > 0 && japanese * 2 >= words ? "ja" : words > 0 ? "en" : "";
}

const questionEnds = ["ですか", "ますか", "でしょうか", "かな", "かなあ", "かなぁ", "なの", "教えて", "おしえて", "教えてください", "って何", "とは"];
const questionWords = ["what", "why", "how", "who", "when", "where", "which", "do", "does", "can", "is", "are", "tell"];

// question says whether a text asks something.
export function question(text) {
  if (/[?？]/.test(wanted("question", "what it is given", text, "string"))) return true;
  const said = normal(text).replace(/[ 。.!！♪〜~ー]+$/u, "");
  return questionEnds.some(end => said.endsWith(end)) || questionWords.includes(said.split(" ", 1)[0]) && language(text) === "en";
}

// pairs gives the pairs of neighbouring letters of a text.
function pairs(text) {
  const letters = [...normal(text).replace(/[^\p{L}\p{Nd}]/gu, "")];
  return new Set(letters.slice(1).map((c, i) => letters[i] + c));
}

// similarity is how much two texts share, 0 to 1: the overlap of their pairs of neighbouring letters.
export function similarity(a, b) {
  const x = pairs(wanted("similarity", "the one text", a, "string")), y = pairs(wanted("similarity", "the other text", b, "string"));
  if (x.size === 0 || y.size === 0) return normal(a) === normal(b) ? 1 : 0;
  let both = 0;
  for (const p of x) if (y.has(p)) both++;
  return both / (x.size + y.size - both);
}

// hash is a small stable number for texts.
export function hash(...parts) {
  let h = 0x811c9dc5;
  const eat = byte => { h = Math.imul(h ^ byte, 0x01000193); };
  for (const part of parts) {
    for (const c of wanted("hash", "a part", part, "string")) {
      const r = c >= "\ud800" && c <= "\udfff" && c.length === 1 ? 0xfffd : c.codePointAt(0), n = size(String.fromCodePoint(r));
      if (n === 1) eat(r);
      else eat([0xc0, 0xe0, 0xf0][n - 2] | r >> 6 * (n - 1));
      for (let rest = n - 2; rest >= 0; rest--) eat(0x80 | r >> 6 * rest & 0x3f);
    }
    eat(0);
  }
  return h >>> 0;
}

// Names that people tell.

const iAm = ["私の名前は", "わたしの名前は", "僕の名前は", "ぼくの名前は", "俺の名前は", "名前は", "私は", "わたしは", "僕は", "ぼくは", "俺は", "おれは", "あたしは", "うちは"];
const calledEnds = ["って呼んでください", "と呼んでください", "って呼んで", "と呼んで", "といいます", "と言います", "と申します", "っていいます", "って言います", "っていうよ", "っていう"];
const isEnds = ["だよ", "です", "だ", ""];
const setOf = words => new Set(words.split(/\s+/).map(normal));
const notNames = setOf(`元気 大丈夫 初心者 人間 日本人 大人 子供 子ども 男 女 女性 男性 無職 主婦 主夫 会社員 学生 眠い ねむい うれしい 楽しい たのしい ひま 暇 ぼっち だめ ふつう 普通 ここ そこ それ これ
ばか おたく オタク プログラマー エンジニア デザイナー ニート サラリーマン ファン リスナー いや まだ もう とても おなか さみしい かなしい つかれた 天才 無理 本気 秘密 ひみつ 内緒
fine good ok okay sorry happy sad tired sleepy hungry bored here back ready not a an the so very just really new sure glad curious interested afraid from in on at still also lost busy well human british american japanese`);
const anonymous = setOf("user users anonymous guest human viewer you me ユーザー ユーザ ゲスト 名無し 匿名");

// isName says whether a text may be somebody's name; strict where the sentence could as well say what somebody is or how they
// feel.
function isName(text, strict) {
  const name = [...trim(text)];
  if (name.length === 0 || name.length > 14 || notNames.has(normal(name.join("")))) return false;
  if (!name.every(c => /[\p{L}\p{M}ー・\- ]/u.test(c))) return false;
  if (!strict) return true;
  const hiragana = name.filter(c => c >= "ぁ" && c <= "ゖ").length, kanji = name.filter(c => isHan(c.codePointAt(0))).length;
  if (kanji > 0 && hiragana > 0 || hiragana > 6 || kanji > 5 || name.length < 2) return false;
  return kanji === 0 || !"者員生師家派手系職型性的中好嫌日前後".includes(name.at(-1));
}

// another is whose name may follow where nobody says whose it is: 猫を飼いはじめたんだ、名前はミケ.
const another = /猫|ねこ|ネコ|犬|いぬ|イヌ|飼|ペット|鳥|インコ|うさぎ|ウサギ|ハムスター|金魚|息子|娘|妹|弟|兄|姉|子供|子ども|赤ちゃん|彼女|彼氏|友達|友だち|先生|上司|先輩|後輩|推し/u;

function japaneseName(text) {
  let said = "";
  for (const part of text.split(/[。！!、,，♪\n〜～]/u)) {
    const before = said;
    said += part + "\n";
    const sentence = trim(part), about = iAm.find(p => sentence.startsWith(p)) ?? "", rest = sentence.slice(about.length);
    if ((about === "" || about === "名前は") && another.test(before)) continue;
    for (const end of calledEnds) {
      if (rest.endsWith(end) && isName(rest.slice(0, -end.length), false)) return trim(rest.slice(0, -end.length));
    }
    const named = about.includes("名前"), end = about && isEnds.find(e => rest.endsWith(e) && (e !== "" || named));
    if (!about || end === undefined) continue;
    const name = rest.slice(0, rest.length - end.length);
    if (isName(name, !named)) return trim(name);
  }
  return "";
}

function englishName(said) {
  const text = said.replaceAll("’", "'"), letters = [...text], small = letters.map(lower);
  if (letters.some((c, i) => size(c) !== size(small[i]))) return "";
  const low = small.join("");
  for (const [lead, strict] of [["my name is ", false], ["my name's ", false], ["call me ", false], ["i am ", true], ["i'm ", true]]) {
    const i = low.indexOf(lead);
    if (i < 0 || i > 0 && inWord(low[i - 1])) continue;
    const word = /^[\p{L}-]*/u.exec(text.slice(i + lead.length))[0];
    if (isName(word, true) && (!strict || /^\p{Lu}/u.test(word))) return word;
  }
  return "";
}

// introduced gives the name that a person tells as their own, "" where there is none: 「私はタロウです」, "my name is Taro".
export function introduced(text) {
  if (question(wanted("introduced", "what it is given", text, "string"))) return "";
  return japaneseName(text) || englishName(text);
}

// Votes.

// want is a vote to speak, from 0 (would not mind) to 10 (must).
export function want(importance, reason) {
  const much = Math.min(Math.max(wanted("want", "the importance", importance, "number"), 0), 10);
  if (Number.isNaN(much)) throw new TypeError("want: the importance is no number");
  return { state: "speak", importance: Math.round(much * 10) / 10, reason };
}

// listen is a vote to stay silent.
export function listen(reason) {
  return { state: "listen", importance: 0, reason };
}

// pass gives the floor back without a word.
export function pass(why) {
  return { text: "", pass: why };
}

// about is what is known of a call, without which much cannot be said.
function about(who, known) {
  if (typeof known?.self !== "string") throw new TypeError(`${who}: it is not told what is known of the call, which an op is given behind its data: vote(scene, about)`);
  return known;
}

function seen(who, scene) {
  if (typeof scene?.message?.text !== "string") throw new TypeError(`${who}: what it is given is no scene`);
  return scene;
}

// addressed says whether a message is for this character: the daemon found so, it was sent to it, or an agent that speaks to
// nobody else does, or invites it to a conversation.
export function addressed(scene, known) {
  const { self } = about("addressed", known), { message, conversation, members = [] } = seen("addressed", scene);
  if (scene.addressed || message.to?.includes(self)) return true;
  return !!conversation && message.from !== self && (conversation.state === "pending" && conversation.from !== self || members.length === 2);
}

// askedOther gives the id of another character whom a message is for, "" where it is for none.
export function askedOther(scene, known) {
  const { self } = about("askedOther", known), { message: { from, text, to }, members = [] } = seen("askedOther", scene);
  if (to?.includes(self)) return "";
  const called = !to?.length && question(text);
  const other = members.find(o => o.id !== self && o.id !== from && o.kind !== "human" && (to?.includes(o.id) || called && o.name && has(normal(text), normal(o.name))));
  return other?.id ?? "";
}

// What a character knows of people. It stands in the module's keys, under the person's name, where the daemon finds it when
// somebody is to be forgotten.

const keyOf = id => `human/${id}`;

// known gives what the character has been told to remember of somebody.
export function known(id) {
  try {
    const is = JSON.parse(kv.get(keyOf(wanted("known", "the id", id, "string"))) ?? "{}");
    if (is && typeof is === "object" && !Array.isArray(is)) return is;
  } catch (e) {
    if (!(e instanceof HostError || e instanceof SyntaxError)) throw e;
    console.debug("what is known of somebody cannot be read:", e);
  }
  return {};
}

// remember adds to what is known of somebody, and gives all of it; what is undefined is taken out.
export function remember(id, what) {
  const is = { ...known(wanted("remember", "the id", id, "string")), ...wanted("remember", "what is remembered", what, "object") };
  const text = JSON.stringify(is);
  keep(keyOf(id), text === "{}" ? undefined : text);
  return JSON.parse(text);
}

// keep writes a key. A store that is full costs what is new, and not the line.
function keep(key, value) {
  try {
    if (value === undefined) kv.delete(key);
    else kv.set(key, value);
  } catch (e) {
    if (!(e instanceof HostError)) throw e;
    console.warn("it cannot be kept:", e);
  }
}

// forget takes out what is known of somebody whose words were erased: export { forget as event } from "companion".
export function forget(event) {
  const who = event?.kind === "forget" ? event.forget?.who : undefined;
  if (!who) return;
  for (const key of kv.list(keyOf(""))) if (normal(key) === normal(keyOf(who))) kv.delete(key);
}

// nameOf gives how somebody may be called: by the name that was remembered, or the one that is shown. It is "" where there is
// no good way: for a human who is called like a companion who is here.
export function nameOf(scene, id) {
  wanted("nameOf", "the id", id, "string");
  const members = seen("nameOf", scene).members ?? [], member = members.find(m => m.id === id) ?? { kind: "human" };
  if (member.kind !== "human") return member.name || id;
  const shown = member.name && member.name !== id && !anonymous.has(normal(member.name)) ? member.name : "";
  const name = known(id).name || shown, same = normal(name);
  return members.some(m => m.kind !== "human" && [m.id, m.name ?? ""].some(n => normal(n) === same)) ? "" : name;
}

// Lines.

const mostSaid = 500; // lines that are noted for a room
const lately = 14; // messages that a line may not be like
const tooAlike = 0.6;

// fill puts values in for {names}, undefined where one is missing.
function fill(line, values) {
  let whole = true;
  const text = line.replace(/\{(\w+)\}/g, (_, name) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    whole &&= value !== undefined && value !== null && value !== "" && !/[{}]/.test(value);
    return value;
  });
  return whole ? trim(text) : undefined;
}

// heard says whether somebody has said this, or nearly this, lately.
function heard(text, recent) {
  const long = characters(text) >= 8, same = normal(text);
  return recent.some(m => normal(m.text) === same || long && similarity(m.text, text) > tooAlike);
}

// fits says whether the room's pool can pay for a text.
function fits(text, { budget }) {
  return !budget?.prices?.length || !(budget.chars >= 0) || characters(text) <= budget.chars;
}

// fresh picks one of some lines that was not said in this room until three quarters of the others have been, and that nobody has
// said, or nearly said, lately; "" where there is none. Values are put in for {names} in lines; a line without its value is
// not said. What was said is noted as numbers of the lines as they stand, without values.
export function fresh(lines, scene, known, values) {
  wanted("fresh", "what there is to say", lines, "list");
  const { room = "", id = "" } = about("fresh", known), { recent = [seen("fresh", scene).message] } = scene;
  const key = `said/${room}`, near = recent.slice(-lately);
  let said = [];
  try {
    said = (kv.get(key) ?? "").split(" ").filter(n => n);
  } catch (e) {
    if (!(e instanceof HostError)) throw e;
    console.debug("said lines cannot be read:", e);
  }
  const own = [...new Set(lines)].map(line => {
    const number = hash(wanted("fresh", "a line", line, "string")).toString(36);
    return { line, number, at: said.lastIndexOf(number), lot: hash(line, id) };
  });
  const newest = own.filter(l => l.at >= 0).sort((a, b) => b.at - a.at).slice(0, Math.floor(own.length * 3 / 4));
  const left = own.filter(l => !newest.includes(l)).sort((a, b) => a.at - b.at || a.lot - b.lot);
  for (const { line, number } of left) {
    const text = fill(line, values ?? none);
    if (!text || !fits(text, scene) || heard(text, near)) continue;
    keep(key, [...said.filter(n => n !== number), number].slice(-mostSaid).join(" "));
    return text;
  }
  return "";
}
