// Who is in the room and does not live here, and a warning where two cannot be told apart by their names.
part("members", {
  tick() {
    const here = info()?.members || [], others = here.filter(m => m.kind !== "companion");
    $("members").replaceChildren(...others.map(m => label(make("li"), m.id, m.name || m.id, m.kind)));
    const warning = [...Map.groupBy(here, m => plain(m.name || m.id)).values()].filter(ms => ms.length > 1)
      .map(ms => t("twins", { name: ms[0].name || ms[0].id, who: ms.map(m => m.id).join(", ") })).join("\n");
    if ($("twins").textContent !== warning) $("twins").textContent = warning;
    $("others").hidden = !others.length && !warning;
  },
});
