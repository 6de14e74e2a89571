// What the daemon says is English. Here is what of it people meet, in the other languages, in one place: whole sentences with holes, else
// what a code stands for. Where no sentence is known, the daemon's own words stay, folded up below. tongue_test.go finds the
// codes and sentences that the Go code has, and fails where one is missing here.
merge(words.ja, {
  verbatim: "英語の原文", amiss: "問題があります", mistaken: "正しくありません",
  wrong: { invalid: "入力に誤りがあります", denied: "許可されていません", not_found: "見つかりません", conflict: "状況が変わったため、できませんでした", stale: "その間に新しい発言がありました", too_large: "上限を超えています", exhausted: "混み合っています。少し待ってからもう一度お試しください",
    unavailable: "今はできません", timeout: "時間内に終わりませんでした", unknown_op: "対応していない操作です", internal: "内部でエラーが起きました" },
  field: { text: "発言", from: "名前", name: "名前", to: "宛先", who: "名前", room: "部屋", companion: "コンパニオン", companions: "コンパニオン", policy: "方針", turns: "ターン", turn: "ターン", target_length: "長さの上限", token: "トークン", body: "内容", message: "発言", amount: "発言リソース", confirm: "確認", keys: "手がかり", importance: "重要度", file: "ファイル", seq: "発言", language: "言語" },
  spoken: {
    // Why a line was refused, or did not come.
    "{} is still heard": "{1} の声がまだ流れています", "a sentence that was cut off is still heard": "切られた文がまだ流れています", "stopped by {}": "{1} が止めました", "{} spoke meanwhile": "その間に {1} が話しました", "{} spoke first": "{1} が先に話しました", "does not have the floor": "発言権がありません", "the floor was held too long": "発言権を持つ時間が長すぎました",
    "{} backchannels were said since a human spoke, which is the cap": "人の発言のあと、あいづちが上限の {1} 回になりました", "the talk has ended; what a human says starts a new one": "会話は終わりました。人が話すと、また始まります", "the talk has ended": "会話は終わりました", "{} since a human spoke, which is the cap": "人の発言のあと、ターンが上限に達しました", "{} holds the floor": "{1} が発言権を持っています",
    "votes are being counted": "投票を集計しています", "{} was refused before and has the next turn": "先に断られた {1} の番です", "the room's policy is vote, which does not take backchannels; vote to speak and say it as a turn": "この部屋の進め方では、あいづちは受け付けません", "{} does not hold the floor; a turn needs a grant, vote to speak to get one": "{1} に発言権がありません",
    "amount: a message of {} characters costs {}, {} was offered": "{1} 文字の発言には発言リソースが {2} 必要で、{3} しか示されていません", "amount: {} is outside 0..{}": "発言リソースは 0 から {2} までです", "message: {} characters, at most {} here": "発言は {2} 文字までです（{1} 文字ありました）", "message: a backchannel has at most {} characters, this has {}": "あいづちは {1} 文字までです（{2} 文字ありました）",
    "not enough resource: {} asked, {} left": "発言リソースが足りません（必要 {1}、残り {2}）", "not enough resource: {} asked, {} left, and the last {} are kept for who is addressed": "発言リソースが足りません（必要 {1}、残り {2}、うち {3} は話しかけられた者のために残します）", "not enough resource: {} asked, and {} of {}'s share of {} are spent": "発言リソースが足りません（必要 {1}、{3} の割り当て {4} のうち {2} は使用済み）",
    "did not answer in time and was stopped": "時間内に答えなかったため、止められました", "did not answer in time": "時間内に答えませんでした", "the daemon is stopping": "デーモンが停止するところです", "broke down: {}": "動作中に壊れました", "no answer": "返事なし", "left the room": "部屋を出ました", "passed": "見送りました", "it was taken back before it was judged": "判断の前に取り消されました",
    // What is noted at a vote, beside the voter's own reason.
    "a human is not asked to break a silence": "人に沈黙を破るよう求めることはありません", "called by {}": "{1} に呼ばれました", "vote kept from the round before": "前の回の投票です", "claims to be selected, the message does not say so": "指名されたと言っていますが、発言にはありません", "has a line ready": "話すことが用意できています", "its line came late": "返事が遅れました", "does not vote": "投票しません", "does not perceive": "感じ取りません",
    // Who may, and what stands in the way.
    "a guest may not do this{}": "ゲストにはできません。権限のあるトークンで接続してください", "a guest who calls from elsewhere may not do this{}": "ほかの機器から来たゲストにはできません。権限のあるトークンで接続してください", "the token of {} has not the scope {}": "{1} のトークンには {2} の権限がありません", "a person {}, and the token of {} is none of a person": "人だけができる操作です。{2} のトークンは人のものではありません", "this is for people{}": "人だけができる操作です",
    "the daemon may only read it": "デーモンには読み取りの権限しかありません", "token: is not one of this house": "このトークンは登録されていません", "token: is missing{}": "トークンが必要です", "origin: {}": "ほかのサイトのページからはできません", "host: {}": "このサーバーの名前ではありません", "too many requests from this address, try again in {} s": "送信が多すぎます。{1} 秒後にもう一度お試しください", "there is no {}": "{1} はありません", "there is nothing at {}": "そこには何もありません",
    "{} has a token; connect with it, or take another name": "{1} はトークンを持つ人の名前です。そのトークンで接続するか、ほかの名前にしてください", "this token is {}'s, not {}'s": "このトークンは {1} のものです", "{} is an agent; only people say stop": "止められるのは人だけです", "the disk is full": "ディスクに空きがありません", "the room takes nothing new: {}": "この部屋は今、新しいものを受け付けません", "seq: entry {} has led to no decision yet": "これについては、まだ何も決まっていません", "internal error": "内部でエラーが起きました",
    // What is wrong in a file, and with a companion.
    "is missing{}": "必要な項目がありません", "is not known{}": "その名前の項目はありません", "must not be empty": "空にはできません", "is {}, must be {}": "{1} は使えません。使えるのは {2} です", "must be {}": "使えるのは {1} です", "from {} to {}": "{1}〜{2}", "one of {}": "次のどれか: {1}", "at least {}": "{1} 以上", "at most {}": "{1} 以下", "more than {}": "{1} より大きい数", "less than {}": "{1} より小さい数", "a whole number{}": "整数", "{} bytes, at most {}": "{2} バイトまでです（{1} バイトありました）",
    "a string": "文字列", "a number": "数", "a list": "リスト", "an object": "オブジェクト", "null": "null", "true or false": "true か false", "is no JSON: {}": "JSON として読めません", "is not UTF-8": "UTF-8 ではありません",
    "waits for a model: {}": "言語モデルの設定を待っています", "quarantined: {} faults in {}s, last: {}": "不具合が {2} 秒に {1} 回あったため、しばらく休ませています",
  },
});
const patterns = Object.entries(words[lang].spoken ?? {}).sort(([a], [b]) => b.length - a.length) // what says more comes first
  .map(([told, here]) => [new RegExp("^" + told.split("{}").map(x => x.replace(/[^\w\s]/g, "\\$&")).join("(.*?)").replace(/^\(\.\*/, "([^:]*") + "$", "s"), here]);
// known gives a sentence in the reader's language, "" where there is none; what stands in its holes is words of others, or known, too.
function known(text) {
  for (const [told, here] of patterns) {
    const holes = text.match(told);
    if (holes) return here.replace(/\{(\d)\}/g, (_, n) => known(holes[n]) || holes[n]);
  }
  return "";
}
// rendered is what the daemon says, with its code: {message, original}, where original is what a reader of English has beside it.
function rendered(text, code, otherwise) {
  const here = words[lang], told = here.spoken && text;
  if (!told) return { message: text };
  const [, line, mistake] = text.match(/^[^:]+:(\d+)(?::\d+)?: (.*)$/s) ?? []; // of a file
  if (line) return { message: t("fileline", { n: line, text: rendered(mistake, code, otherwise).message }), original: text };
  const whole = known(text), [, path, rest] = text.match(/^([\w.[\]-]+): (.*)$/s) ?? [], field = path?.split(".").at(-1).replace(/\[\d+\]/g, "");
  const what = whole || known(rest ?? "") || here.wrong[code] || otherwise;
  return what ? { message: whole || (path ? (here.field[field] || path) + ": " : "") + what, original: text } : { message: text };
}
// remarked are the notes at a vote, of which some are the daemon's and some the voter's own.
const remarked = text => text.split("; ").map(x => known(x) || x).join("; ");
// tells shows a text, or what was refused, in an element.
function tells(where, what) {
  where.textContent = what.message ?? what;
  if (what.original && what.original !== what.message) where.append(inEnglish(what.original));
  return where;
}
function inEnglish(text) { const d = fold(t("verbatim")); d.className = "original"; d.append(Object.assign(make("span", "", text), { lang: "en" })); return d; }
