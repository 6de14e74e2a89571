// Who speaks next in the room that is shown, and who does not: buttons at companions who live there.
{
  const rows = new Map(); // by id, the buttons that were drawn last
  part("speakers", {
    words: {
      en: { yourturn: "Your turn", goahead: "{who}, go ahead.", mute: "Mute", unmute: "Let speak", ismuted: "muted", muted_by: "{by} muted {who}", unmuted_by: "{by} lets {who} speak again" },
      ja: { yourturn: "次に話す", goahead: "{who}、どうぞ。", mute: "ミュート", unmute: "ミュート解除", ismuted: "ミュート中", muted_by: "{by} が {who} をミュートしました", unmuted_by: "{by} が {who} のミュートを解除しました" },
    },
    companion(m, li) {
      if (m.kind) return;
      const name = m.name || m.id, turn = press("next", t("yourturn"), () => sends(t("goahead", { who: name }), [m.id]));
      const mute = press("hush", t("mute"), async () => {
        const on = mute.getAttribute("aria-pressed") !== "true", of = room;
        try {
          const { muted } = await call(ofRoom(of) + "/mute", { companion: m.id, muted: on, ...person() });
          if (of !== room || !info()) return;
          info().muted = muted; placeAll(); faces();
        } catch (e) { told(e); }
      });
      for (const b of [turn, mute]) b.setAttribute("aria-label", b.textContent + ": " + name);
      rows.set(m.id, { turn, mute, name });
      const both = make("div", "speaking");
      both.append(turn, mute);
      li.append(both);
      placeAll();
    },
    tick: placeAll, shows: placeAll,
    entry(e) {
      if (e.kind !== "muted" || e.blank || !info()) return;
      info().muted = (info().muted || []).filter(id => id !== e.body.who).concat(e.body.on ? [e.body.who] : []);
      placeAll(); faces();
    },
  });
  function placeAll() {
    const here = info(), lives = id => !!here && !here.conversation && (here.members || []).some(m => m.id === id && m.kind === "companion");
    for (const [id, { turn, mute, name }] of rows) {
      const silent = !!here?.muted?.includes(id), says = t(silent ? "unmute" : "mute");
      turn.hidden = silent || !lives(id); mute.hidden = !silent && !lives(id);
      if (mute.textContent !== says) { mute.textContent = says; mute.setAttribute("aria-label", says + ": " + name); }
      mute.setAttribute("aria-pressed", String(silent));
    }
  }
}
