// The newest lines of the daemon's log, as they come while the list is open. They are words of others, which are text.
{
  const most = 300;
  let head = 0, turn = 0, met = "";
  part("logs", {
    words: {
      en: { logging: "The daemon's log", openlog: "Show the newest lines", loglevel: "From", logabout: "About", logall: "everybody", nolog: "No line yet.", loglevels: { debug: "debug", info: "info", warn: "warnings", error: "errors" }, logaway: "The daemon does not answer; its lines come when it is back." },
      ja: { logging: "デーモンのログ", openlog: "新しい行を見る", loglevel: "重さ", logabout: "対象", logall: "全員", nolog: "まだ行がありません。", loglevels: { debug: "すべて", info: "情報以上", warn: "警告以上", error: "エラーのみ" }, logaway: "デーモンから返事がありません。戻りしだい、続きを表示します。" },
    },
    tick() {
      const now = (mates || []).map(m => m.id).join(" ");
      if (met === now && !$("lately").hidden) return;
      met = now;
      call("/v1/logs?limit=1").then(() => { $("lately").hidden = false; }, () => { $("lately").hidden = true; });
      const was = $("logabout").value;
      $("logabout").replaceChildren(new Option(t("logall"), ""), ...(mates || []).map(m => new Option(called(m.id), m.id)));
      $("logabout").value = was;
    },
    locked() { turn++; $("lately").hidden = true; $("logbook").open = false; $("loglines").replaceChildren(); },
  });
  $("loglevel").replaceChildren(...["debug", "info", "warn", "error"].map(l => new Option(words[lang].loglevels[l], l)));
  $("loglevel").value = "info";
  const pause = ms => new Promise(done => setTimeout(done, ms));
  // follow asks for the next lines again and again, until the list is closed or other lines are wanted.
  const follow = async () => {
    const mine = ++turn;
    head = 0; $("loglines").replaceChildren(); $("logtold").textContent = "";
    while (mine === turn && $("logbook").open) {
      try {
        const got = await call("/v1/logs?wait=" + (head ? 20 : 0) + "&since=" + head + "&level=" + $("loglevel").value + "&companion=" + encodeURIComponent($("logabout").value));
        if (mine !== turn) return;
        if (got.head < head) $("loglines").replaceChildren(); // another daemon
        head = got.head;
        const below = $("logscroll").scrollHeight - $("logscroll").scrollTop - $("logscroll").clientHeight < 40;
        $("loglines").append(...got.lines.map(line));
        while ($("loglines").childElementCount > most) $("loglines").firstElementChild.remove();
        if (below) $("logscroll").scrollTop = $("logscroll").scrollHeight;
        $("logtold").textContent = $("loglines").childElementCount ? "" : t("nolog");
        if (!got.head) await pause(2000);
      } catch (e) {
        if (mine !== turn) return;
        tells($("logtold"), e.status ? e : t("logaway"));
        if (e.status === 403 || e.status === 401) return;
        await pause(3000);
      }
    }
  };
  const line = l => {
    const li = make("li", "level-" + l.level), at = make("time", "", new Date(l.at).toLocaleTimeString(lang));
    at.dateTime = l.at;
    li.append(at, ...(l.companion ? [make("b", "", called(l.companion) + " ")] : []), l.message, ...(l.fields.length ? [make("small", "", l.fields.map(f => f.name + "=" + f.value).join("  "))] : []));
    return li;
  };
  $("logbook").ontoggle = () => { if ($("logbook").open) follow(); else turn++; };
  $("loglevel").onchange = $("logabout").onchange = () => { if ($("logbook").open) follow(); };
}
