// The companions of the house, how they are, and what is wrong with the newest save of each. Other parts put their buttons there.
{
  let met = ""; // drawn anew when it has changed: what has the focus keeps it
  part("companions", {
    words: { en: { faults: "{n} faults since it was loaded", file: "file {file}", nomates: "No companion yet. Put a character's file into the daemon's folder of characters, and it appears here." },
      ja: { faults: "読み込みから不具合 {n} 回", file: "ファイル {file}", nomates: "コンパニオンはまだいません。キャラクターのファイルをフォルダーに置くと、ここに現れます。" } },
    tick: drawMates, redraw() { met = ""; drawMates(); },
  });
  function drawMates() {
    if (!mates || met === (met = JSON.stringify(mates))) return;
    $("companions").replaceChildren(...(mates.length ? mates.map(row) : [make("li", "hint", t("nomates"))]));
  }
  function row(m) {
    const li = make("li"), head = label(make("b"), m.id, m.name || m.id), state = make("span", "badge " + m.state, words[lang].state[m.state] || m.state);
    head.append(state);
    li.append(...(m.kind ? [] : [face(m.id, m.name || m.id)]), head, make("small", "", [m.engine, m.generation ? t("gen", { n: m.generation }) : "", words[lang].progress[m.progress] || m.progress].filter(Boolean).join(" · ")));
    if (m.error) li.append(m.state === "ready" && m.error.startsWith("waits for a model") ? tells(make("small"), rendered(m.error)) : tells(make("span", "error"), rendered(m.error, "", words[lang].amiss))); // no mistake of the card's
    if (m.faults) li.append(make("small", "warn", t("faults", { n: m.faults })));
    tell("companion", m, li);
    return li;
  }
}
