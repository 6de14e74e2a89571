// The handlers of the house, and a form for each thing that one can do, made of the schema of its parameters. All of it is
// words of others, which are text. Who may have it done, and with what, is the daemon's to say.
let handed = "", hadMates = "";
part("handlers", { tick() { const now = JSON.stringify(mates); if (hadMates !== now && (hadMates || mates.some(m => m.kind))) reach(); hadMates = now; } });

// reach asks what there is. What has the focus keeps it.
async function reach() {
  let all = [];
  try { all = (await call("/v1/handlers")).handlers; } catch { /* an older daemon, or nobody may see them */ }
  if (handed === (handed = JSON.stringify(all))) return;
  $("hands").hidden = !all.length;
  $("handlers").replaceChildren(...all.map(h => {
    const li = label(make("li"), h.name, h.name);
    li.append(h.error ? tells(make("span", "error"), rendered(h.error, "", words[lang].amiss)) : make("small", "", h.companions.map(called).join(", ")), ...h.actions.map(a => deed(h.name, a)));
    return li;
  }));
}

// deed is one action, folded up.
function deed(handler, action) {
  const d = fold(action.name), form = make("form"), told = make("small"), all = fields(action.schema || {}), go = make("button", "", t("dothat"));
  told.setAttribute("role", "status"); form.autocomplete = "off";
  form.append(...all.map(f => f.shown), go); d.append(make("small", "", action.description), form, told);
  form.onsubmit = async event => {
    event.preventDefault();
    go.disabled = true; told.className = told.textContent = "";
    try {
      const body = Object.fromEntries(all.map(f => [f.name, f.value()]).filter(([, v]) => v !== undefined));
      told.textContent = (await call("/v1/handlers/" + encodeURIComponent(handler) + "/actions/" + encodeURIComponent(action.name), body)).message || t("didthat");
    } catch (e) { told.className = "error"; tells(told, e); }
    go.disabled = false;
  };
  return d;
}

// fields are what a schema wants, those first that it needs. What is left empty is left out.
function fields(schema) {
  const needs = schema.required || [], names = Object.keys(schema.properties || {});
  return [...names.filter(n => needs.includes(n)), ...names.filter(n => !needs.includes(n))].map(name => {
    const p = schema.properties[name], kind = [p.type].flat()[0], must = needs.includes(name), shown = make("label");
    const choice = p.enum ?? (kind === "boolean" && !must ? [true, false] : null), input = make(choice ? "select" : "input");
    let value = () => input.value === "" && !must ? undefined : kind === "string" ? input.value : meant(input.value);
    if (choice) {
      input.append(...(must ? [] : [new Option("", "")]), ...choice.map((one, i) => new Option(String(one), i)));
      value = () => choice[input.value === "" ? must ? 0 : -1 : Number(input.value)];
    } else if (kind === "boolean" && must) {
      input.type = "checkbox"; value = () => !!input.checked;
    } else if (kind === "integer" || kind === "number") {
      Object.assign(input, { type: "number", min: p.minimum ?? "", max: p.maximum ?? "", step: kind === "integer" ? 1 : "any", required: must });
    } else Object.assign(input, { maxLength: p.maxLength ?? 5000, required: must && p.minLength !== 0 });
    shown.append(name + " ", input); shown.title = p.description || "";
    if (p.description) shown.append(make("small", "", p.description));
    return { name, shown, value };
  });
}
function meant(text) { try { return JSON.parse(text); } catch { return text; } } // where no text is wanted
