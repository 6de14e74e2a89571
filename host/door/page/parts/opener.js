// Rooms that people open here, with who lives there and how turns are taken, and close again. They are in the journal, and there
// after a restart. Those of the configuration are changed there.
{
  let met = "", sure = "";
  const choices = { roompolicy: ["vote", "pool", "vote+pool"], roompace: ["auto", "700ms", "2s", "0s"], roominterrupt: ["sentence", "now", "never"] };
  part("opener", {
    words: {
      en: { opening: "Rooms", openroom: "Open a room", roomname: "Its name", roommates: "Who lives there", roompolicy: "Who speaks next", roompace: "Pause between lines", roominterrupt: "When you speak over a line", roomturns: "Lines in a row without a human, at most", closeroom: "Close the room I see", reallyclose: "Really close {room}?", roomclosed: "{room} is closed; what was said there can still be read.",
        roomwords: { vote: "whoever wants it most", pool: "whoever pays for it", "vote+pool": "whoever wants it most; short replies pay", auto: "as long as a line takes to say", "700ms": "0.7 s", "2s": "2 s", "0s": "none", sentence: "it ends with its sentence", now: "it ends at once", never: "it is said to its end" } },
      ja: { opening: "部屋", openroom: "部屋を開く", roomname: "部屋の名前", roommates: "住む人", roompolicy: "次に話す人", roompace: "発言の間", roominterrupt: "発言に割り込まれたら", roomturns: "人が話さないあいだの発言数の上限", closeroom: "いま見ている部屋を閉じる", reallyclose: "{room} を本当に閉じますか？", roomclosed: "{room} を閉じました。これまでの発言は、いまも読めます。",
        roomwords: { vote: "いちばん話したい人", pool: "持ち点を払う人", "vote+pool": "いちばん話したい人(短い返事は持ち点で)", auto: "話すのにかかる時間", "700ms": "0.7 秒", "2s": "2 秒", "0s": "なし", sentence: "文の切れ目で終わる", now: "すぐに終わる", never: "最後まで話す" } },
    },
    tick() {
      const living = (mates || []).filter(m => !m.kind), now = JSON.stringify(living.map(m => [m.id, m.name]));
      $("opener").hidden = !mates;
      if (met === now) return;
      met = now;
      const off = new Set([...$("roommates").querySelectorAll?.("input:not(:checked)") || []].map(e => e.value));
      $("roommates").replaceChildren(make("legend", "", t("roommates")), ...living.map(m => {
        const row = make("label"), box = Object.assign(make("input"), { type: "checkbox", value: m.id, checked: !off.has(m.id) });
        row.append(box, called(m.id)); return row;
      }));
    },
    shows() { sure = ""; $("closeroom").textContent = t("closeroom"); },
    locked() { $("opener").hidden = true; met = ""; },
  });
  for (const [id, all] of Object.entries(choices)) $(id).replaceChildren(...all.map(c => new Option(words[lang].roomwords[c], c)));
  const tellOf = (what, bad) => { tells($("opentold"), what); $("opentold").className = bad ? "bad" : ""; };
  $("openform").onsubmit = async event => {
    event.preventDefault(); tellOf("");
    const boxes = [...$("roommates").querySelectorAll("input")], living = boxes.filter(b => b.checked).map(b => b.value);
    try {
      const made = await call("/v1/rooms", { name: $("roomname").value.trim(), companions: living.length === boxes.length ? ["*"] : living, policy: $("roompolicy").value, pace: $("roompace").value, interrupt: $("roominterrupt").value, max_turns: Number($("roomturns").value) });
      $("roomname").value = ""; location.hash = encodeURIComponent(made.name);
    } catch (e) { tellOf(e, true); }
  };
  $("closeroom").onclick = async () => {
    if (sure !== room) { sure = room; $("closeroom").textContent = t("reallyclose", { room }); return; }
    const of = room; sure = ""; $("closeroom").textContent = t("closeroom"); tellOf("");
    try {
      const r = await fetch(ofRoom(of), { method: "DELETE", headers: holder() });
      if (r.status === 401) lock();
      if (!r.ok) throw refusal(await r.json(), r);
      tellOf(t("roomclosed", { room: of }));
    } catch (e) { tellOf(e, true); }
  };
}
