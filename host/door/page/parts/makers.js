// The files of characters: a new one, an editor for each, as text and, of a card, as a form that is made of the schema of cards. What is
// wrong with a text the daemon says, with its line, and so it does before anything is saved. What was typed and not saved stays while the
// page is open, also when the daemon is away.
{
  let asked = "", files = [], schema = null, at = null, timer = 0, turn = 0;
  const drafts = new Map(), path = file => "/v1/characters/" + encodeURIComponent(file);

  part("makers", {
    words: {
      en: { making: "Characters' files", newfile: "New character", editfile: "Edit {file}", bringback: "Bring back {file}", fileid: "Its name, as a file", filekind: "What it is", begin: "Begin", asform: "Form", astext: "Text", filetext: "What stands in the file",
        wrongs: "What is wrong", savefile: "Save", theirfile: "Show what is there now", wasfile: "Show the version before", asread: "Undo what I typed", dropfile: "Delete", reallydrop: "Really delete {file}?", filesaved: "Saved. Rooms that are open have it in a moment.", filedropped: "Deleted. It can be brought back here.",
        filewrong: "Not saved: mend what is wrong first.", filegood: "Nothing is wrong.", filemoved: "Somebody else has changed this file since you opened it. Nothing was saved, and what you typed is still here. Save again to put yours in its place.", unsaved: "Not saved yet.", filebefore: "This is the version before. It is not saved until you save it.",
        fileline: "Line {n}: {text}", notjson: "The form shows a card that is JSON. Mend the text first.", each: "one in each row", addone: "Add one: {what}", takeout: "Take it out", asjson: "JSON", leftout: "(left out)", yes: "yes", no: "no",
        filekinds: { script: "Lines to say, without a model", card: "A card, for a language model", typescript: "Code in TypeScript" }, cardkeys: {} },
      ja: { making: "キャラクターのファイル", newfile: "新しいキャラクター", editfile: "{file} を編集", bringback: "{file} を元に戻す", fileid: "ファイルとしての名前", filekind: "種類", begin: "作り始める", asform: "フォーム", astext: "テキスト", filetext: "ファイルの中身",
        wrongs: "間違い", savefile: "保存", theirfile: "いまの中身を見る", wasfile: "前の版を見る", asread: "入力を取り消す", dropfile: "削除", reallydrop: "{file} を本当に削除しますか？", filesaved: "保存しました。開いている部屋には、すぐに反映されます。", filedropped: "削除しました。ここから元に戻せます。",
        filewrong: "保存していません。先に間違いを直してください。", filegood: "間違いはありません。", filemoved: "このファイルは、開いたあとにほかの人が変更しました。何も保存していません。入力した内容はそのまま残っています。もう一度「保存」を押すと、あなたの版に置き換わります。", unsaved: "まだ保存していません。", filebefore: "これは前の版です。「保存」を押すまで保存されません。",
        fileline: "{n} 行目: {text}", notjson: "フォームで編集できるのは、正しい JSON のカードだけです。先にテキストを直してください。", each: "1 行に 1 つ", addone: "追加: {what}", takeout: "取り除く", asjson: "JSON", leftout: "(指定なし)", yes: "はい", no: "いいえ",
        filekinds: { script: "台本(言語モデルなし)", card: "カード(言語モデルが演じる)", typescript: "TypeScript のコード" },
        cardkeys: { name: "名前", aliases: "別名", personality: "性格", story: "背景", role: "役割", sample: "話し方の例", version: "版", language: "言語", model: "言語モデル", voice: "声", talkativeness: "話したがる度合い", mode: "許可のない行動", metadata: "ファイルの情報", actions: "できること", queries: "尋ねられること", perceptions: "感じ取れること", events: "きまり",
          title: "題", description: "説明", properties: "引数", required: "必ず要る引数", perception: "感じ取ったこと", action: "してよいこと", condition: "条件", author: "作者", tags: "タグ", created: "作成日時", updated: "更新日時", thumbnail: "画像", input: "人の言葉か", media_types: "画像の種類", max_bytes: "画像の大きさの上限", cool_down: "休む時間", coalesce: "新しいものに置き換える", format: "形式", enum: "受け取る形式" },
        cardhelp: { name: "みんなが呼ぶ名前です。64 バイトまで。", aliases: "呼ばれると答える、ほかの名前です。", personality: "どんな性格か。", story: "どこから来て、何を知っておくとよいか。", role: "何のためにここにいるか。", sample: "話し方がわかるせりふです。", version: "このファイルの版です。自由に数えてください。", language: "話しかけられる言語のタグです（ja や en-US など）。空欄なら文章から判断します。", model: "考えるときに使う言語モデルの名前です。空欄なら既定のモデルを使います。", voice: "せりふを読み上げる声の設定です（speaker、speed、emotions など）。",
          talkativeness: "0 なら話しかけられたときだけ、1 ならよく話します。", mode: "きまりにない行動の扱いです。deny は断り、warn は知らせたうえで行います。", author: "作った人です。", tags: "探すときの手がかりです。", created: "作った日時です（例 2025-08-05T00:00:00Z）。", updated: "最後に変えた日時です。", thumbnail: "画像のアドレスです。", description: "言語モデルへの説明です。", properties: "引数と、それぞれのスキーマです。", required: "なくてはならないものです。", input: "人の言葉かどうか。空欄なら、題が input のときだけ人の言葉とします。", media_types: "受け取る画像の種類です。", max_bytes: "画像 1 枚の大きさの上限（バイト）です。",
          cool_down: "次に感じ取るまで休む時間です（2s や 500ms など、1h まで）。", coalesce: "待っているものを新しいもので置き換えるか。空欄なら、画像だけ置き換えます。", perception: "上の「感じ取れること」の題です。", action: "このきまりで許す行動の題です。", condition: "いつ、どうするかを自分の言葉で書きます。言語モデルが判断に使います。" } },
    },
    tick() { const now = JSON.stringify((mates || []).map(m => [m.id, m.file, m.generation, m.error])); if (asked !== now) look(now); },
    companion(m, li) {
      const file = (m.file || "").split("/").pop();
      if (files.some(f => f.file === file && !f.deleted)) li.append(press("mind", t("editfile", { file }), () => open(file)));
    },
    locked() { files = []; asked = ""; drafts.clear(); $("workshop").hidden = true; if (at) { at = null; $("editor").close(); } },
  });

  // look asks which files there are. Whoever may not know is shown nothing of it.
  async function look(now = asked) {
    asked = now;
    let out = null;
    try { out = await call("/v1/characters"); } catch { /* not for this caller, or an older daemon */ }
    const had = JSON.stringify(files);
    files = out?.files || [];
    $("workshop").hidden = !out;
    $("newfile").hidden = $("readonly").hidden = !out?.read_only;
    $("newfile").hidden = !!out?.read_only; tells($("readonly"), rendered(out?.read_only || "", "denied"));
    $("goners").replaceChildren(...files.filter(f => f.deleted).map(f => { const li = make("li"); li.append(press("mind", t("bringback", { file: f.file }), () => open(f.file, true))); return li; }));
    if (had !== JSON.stringify(files)) tell("redraw");
  }

  // ask is a request about a file, which is answered with what it has and its status.
  async function ask(method, where, text, headers = {}) {
    const r = await fetch(where, { method, headers: { ...holder(), ...headers, ...(text === undefined ? {} : { "Content-Type": "application/json" }) }, body: text === undefined ? undefined : JSON.stringify({ text }) });
    if (r.status === 401) lock();
    const answer = r.status === 204 ? {} : await r.json();
    return { ok: r.ok, status: r.status, answer };
  }

  // open shows a file, or what it was before it was deleted, with what was typed and not saved.
  async function open(file, gone = false) {
    try {
      const f = await call(path(file) + (gone ? "?before=true" : ""));
      show({ file, kind: f.kind, hash: gone ? "" : f.hash, read: gone ? "" : f.text, text: drafts.get(file) ?? f.text, before: !!files.find(x => x.file === file)?.before });
      if (gone) say(t("filebefore"));
    } catch (e) { told(e); }
  }

  function show(f) {
    at = { ...f, crlf: f.text.includes("\r\n"), form: null };
    at.read = plainEnds(at.read);
    $("edited").textContent = f.file;
    $("filetext").value = plainEnds(f.text);
    for (const id of ["theirs", "asread"]) $(id).hidden = true;
    $("wasfile").hidden = !f.before; $("dropfile").hidden = !f.hash; $("dropfile").textContent = t("dropfile");
    $("views").hidden = f.kind !== "card"; $("savefile").disabled = false;
    warn(""); say(drafts.has(f.file) ? t("unsaved") : ""); wrong([]);
    if (!$("editor").open) $("editor").showModal();
    const mine = at;
    view(f.kind === "card" && recalled("cardview") !== "text").then(() => { if (mine === at) check(); }); // which marks the form's fields
    if (drafts.has(f.file)) changed();
  }
  const plainEnds = text => text.replaceAll("\r\n", "\n"), text = () => at.crlf ? $("filetext").value.replaceAll("\n", "\r\n") : $("filetext").value;
  const say = words => { $("editortold").textContent = words; }, warn = what => tells($("editorwarned"), what), refused = answer => rendered(answer.detail || "", answer.code);

  // changed notes what was typed, and asks a moment later what is wrong with it.
  function changed() {
    const same = $("filetext").value === at.read;
    if (same) drafts.delete(at.file); else drafts.set(at.file, text());
    $("asread").hidden = same || !at.hash; $("dropfile").textContent = t("dropfile");
    say(same ? "" : t("unsaved")); warn("");
    clearTimeout(timer);
    timer = setTimeout(check, 400);
  }

  // check asks what is wrong with the text as it is. An answer to an older question is passed over.
  async function check() {
    const mine = ++turn, of = at;
    try {
      const { ok, answer } = await ask("POST", path(of.file) + "/check", text());
      if (mine !== turn || of !== at) return null;
      if (!ok) { warn(refused(answer)); return null; }
      wrong(answer.problems);
      return answer.problems;
    } catch (e) { if (of === at) warn(e); return null; }
  }

  const mistake = p => rendered(p.text, "", words[lang].mistaken);

  // wrong shows problems: each with its line, on which it puts the caret, and at its field.
  function wrong(problems) {
    $("filetext").setAttribute("aria-invalid", String(problems.length > 0));
    $("wrongs").replaceChildren(...problems.map(p => {
      const li = make("li"), told = mistake(p), where = [p.path, told.message].filter(Boolean).join(": ");
      li.append(press("", p.line ? t("fileline", { n: p.line, text: where }) : where, () => p.path && at.form && !$("cardform").hidden && at.form.field(p.path) ? at.form.field(p.path).focus() : toLine(p.line || 1, p.column)));
      if (told.original) li.append(inEnglish(told.original));
      return li;
    }));
    at?.form?.mark(problems);
  }
  function toLine(n, column = 1) {
    view(false);
    const rows = $("filetext").value.split("\n"), from = rows.slice(0, n - 1).reduce((sum, row) => sum + row.length + 1, 0);
    $("filetext").focus();
    $("filetext").setSelectionRange(from + Math.max(0, (column || 1) - 1), from + (rows[n - 1] || "").length);
    $("filetext").scrollTop = Math.max(0, (n - 4) * $("filetext").scrollHeight / rows.length);
  }

  // save puts the text into the file, if nothing is wrong with it and nobody else has changed the file.
  async function save() {
    const of = at, mine = text();
    $("savefile").disabled = true; clearTimeout(timer); warn("");
    try {
      const { ok, status, answer } = await ask("PUT", path(of.file), mine, of.hash ? { "If-Match": '"' + of.hash + '"' } : { "If-None-Match": "*" });
      if (of !== at) return;
      if (ok) {
        at.hash = answer.hash; at.read = plainEnds(mine); at.before = at.before || of.read !== "";
        drafts.delete(of.file); wrong([]); say(t("filesaved"));
        if ($("filetext").value !== at.read) changed(); // more was typed meanwhile
        $("theirs").hidden = $("asread").hidden = true; $("dropfile").hidden = false;
        look();
      } else if (status === 412) await moved(refused(answer));
      else { say(""); const problems = await check(); warn(problems?.length ? t("filewrong") : refused(answer)); $("wrongs").querySelector?.("button")?.focus(); }
    } catch (e) { warn(e); }
    finally { $("savefile").disabled = false; }
  }

  // moved tells that somebody else has changed the file. What they saved can be looked at, and the next save takes its place.
  async function moved(why) {
    const { ok, answer } = await ask("GET", path(at.file));
    say("");
    if (!ok) { warn(why); at.hash = ""; return; }
    at.hash = answer.hash; at.theirs = answer.text;
    warn(t("filemoved")); $("theirs").hidden = false;
  }
  function put(words, told) { $("filetext").value = plainEnds(words); view(!$("cardform").hidden); changed(); if (told) say(told); }

  async function drop() {
    if ($("dropfile").textContent === t("dropfile")) { $("dropfile").textContent = t("reallydrop", { file: at.file }); return; }
    const { ok, status, answer } = await ask("DELETE", path(at.file), undefined, { "If-Match": '"' + at.hash + '"' });
    if (!ok) { if (status === 412) await moved(refused(answer)); else warn(refused(answer)); $("dropfile").textContent = t("dropfile"); return; }
    drafts.delete(at.file); at = null; $("editor").close(); status_(t("filedropped")); look();
  }
  const status_ = words => { $("making").focus?.(); $("readonly").hidden = false; $("readonly").textContent = words; };

  // view shows a card as a form, or as the text that it is.
  async function view(form) {
    if (form) try { at.form = cardForm(JSON.parse($("filetext").value), schema ??= await call("/v1/schemas/companion.json")); } catch (e) { if (e instanceof SyntaxError) say(t("notjson")); else warn(e); form = false; at.form = null; }
    if (!at) return;
    if (at.form) $("cardform").replaceChildren(at.form.shown);
    $("cardform").hidden = !form; $("source").hidden = form;
    $("asform").setAttribute("aria-pressed", String(form)); $("astext").setAttribute("aria-pressed", String(!form));
  }

  // cardForm is a card as a form, made of its schema. What the schema has no name for stays as it is.
  function cardForm(card, of) {
    const fields = new Map(), root = object(of, card, "", true);
    const form = {
      shown: root.shown,
      field(path) { for (let p = path; p; p = p.replace(/(\.[^.[\]]*|\[[^\]]*\])$|^[^.[\]]*$/, "")) if (fields.has(p)) return fields.get(p); return null; },
      mark(problems) {
        for (const e of fields.values()) { e.removeAttribute("aria-invalid"); e.removeAttribute("aria-describedby"); }
        for (const e of root.shown.querySelectorAll?.(".error") || []) e.remove();
        problems.forEach((p, i) => {
          const e = p.path && form.field(p.path);
          if (!e) return;
          const told = make("span", "error", mistake(p).message); told.id = "wrong-" + i;
          e.setAttribute("aria-invalid", "true"); e.setAttribute("aria-describedby", told.id); e.after(told);
        });
      },
    };
    const typed = () => { const made = root.value() ?? {}; $("filetext").value = JSON.stringify(made, null, 2) + "\n"; changed(); };
    root.shown.oninput = typed;
    return form;

    function resolved(s) { return s?.$ref ? resolved(s.$ref.split("/").slice(1).reduce((o, k) => o[k], of)) : s ?? {}; }
    function one(s, value, path, name) {
      s = resolved(s);
      const kind = [s.type].flat()[0], loose = name === "properties" || value !== undefined && !fits(s, value);
      if (!loose && (kind === "object" && s.properties)) return object(s, value, path, false, name);
      if (!loose && kind === "array" && resolved(s.items).type === "object") return list(s, value ?? [], path, name);
      return plainField(loose ? {} : s, value, path, name);
    }
    function fits(s, value) {
      const kind = [s.type].flat()[0] ?? (s.enum || s.const ? typeof (s.enum?.[0] ?? s.const) : "");
      if (kind === "array") return Array.isArray(value) && (resolved(s.items).type !== "string" && !resolved(s.items).enum || value.every(v => typeof v === "string" && !v.includes("\n")));
      if (kind === "integer" || kind === "number") return typeof value === "number";
      return kind === "object" ? value !== null && typeof value === "object" && !Array.isArray(value) : typeof value === kind;
    }
    function keyed(name) { return words[lang].cardkeys[name] || name; }
    function plainField(s, value, path, name) {
      const kind = [s.type].flat()[0] ?? (s.enum ? "string" : s.const ? "const" : ""), shown = make("label"), choice = s.enum ?? (kind === "boolean" ? [true, false] : null);
      const long = kind === "string" && !s.pattern && !s.maxLength && !s.const && !choice, rows = kind === "array", json = kind === "" || kind === "object";
      const input = make(choice ? "select" : long || rows || json ? "textarea" : "input");
      let read = () => input.value === "" ? undefined : input.value;
      if (choice) {
        input.append(new Option(t("leftout"), ""), ...choice.map((c, i) => new Option(c === true ? t("yes") : c === false ? t("no") : c, String(i))));
        input.value = value === undefined ? "" : String(choice.indexOf(value)); read = () => input.value === "" ? undefined : choice[Number(input.value)];
      } else if (rows) {
        input.value = (value ?? []).join("\n"); read = () => { const all = input.value.split("\n").map(r => r.trim()).filter(Boolean); return all.length || value ? all : undefined; };
      } else if (json) {
        input.className = "json"; input.spellcheck = false; input.value = value === undefined ? "" : JSON.stringify(value, null, 2);
        read = () => { if (input.value.trim() === "") return undefined; try { input.setCustomValidity(""); return JSON.parse(input.value); } catch (e) { input.setCustomValidity(e.message); return value; } };
      } else {
        if (kind === "integer" || kind === "number") { Object.assign(input, { type: "number", min: s.minimum ?? "", max: s.maximum ?? "", step: kind === "integer" ? 1 : "any" }); read = () => input.value === "" ? undefined : Number(input.value); }
        input.value = value ?? "";
      }
      if (input.tagName === "TEXTAREA") input.rows = Math.min(12, Math.max(2, input.value.split("\n").length));
      shown.append(make("span", "", keyed(name) + (rows ? " (" + t("each") + ")" : json ? " (" + t("asjson") + ")" : "")), input);
      const help = lang === "en" ? s.description : words[lang].cardhelp[name]; if (help) shown.append(make("small", "", help));
      fields.set(path, input);
      return { shown, value: read };
    }
    function object(s, value, path, top, name) {
      const shown = make(top ? "div" : "fieldset"), parts = new Map(), had = value && typeof value === "object" ? value : {};
      if (!top) shown.append(make("legend", "", keyed(name)));
      for (const [key, sub] of Object.entries(s.properties || {})) {
        if (key === "$schema" || key === "id" || key === "type") continue;
        const f = one(sub, had[key], path ? path + "." + key : key, key);
        parts.set(key, f); shown.append(f.shown);
      }
      return { shown, value() {
        const made = {};
        for (const key of [...Object.keys(had), ...[...parts.keys()].filter(k => !(k in had))]) { const v = parts.has(key) ? parts.get(key).value() : had[key]; if (v !== undefined) made[key] = v; }
        return Object.keys(made).length || top || value !== undefined ? made : undefined;
      } };
    }
    function list(s, value, path, name) {
      const shown = make("fieldset"), all = [], more = press("", t("addone", { what: keyed(name) }), () => { add(undefined); typed(); all.at(-1).shown.querySelector?.("input, textarea")?.focus(); });
      shown.append(make("legend", "", keyed(name)), more);
      const had = value.length > 0;
      function add(v) {
        const f = object(resolved(s.items), v ?? {}, path + "[" + all.length + "]", false, name);
        f.shown.append(press("danger", t("takeout"), () => { all.splice(all.indexOf(f), 1); f.shown.remove(); typed(); view(true); }));
        all.push(f); more.before(f.shown);
      }
      value.forEach(add);
      return { shown, value: () => all.length || had ? all.map(f => f.value()) : undefined };
    }
  }

  // A new character begins with what makers are given.
  function beginNew() {
    $("begintold").textContent = "";
    $("filekind").replaceChildren(...["script", "card", "typescript"].map(k => new Option(words[lang].filekinds[k], k)));
    $("beginner").showModal(); $("fileid").focus();
  }
  $("begin").onsubmit = async event => {
    event.preventDefault();
    $("begintold").textContent = "";
    try {
      const { samples } = await call("/v1/character-samples?language=" + lang + "&name=" + encodeURIComponent($("fileid").value.trim())), s = samples.find(x => x.kind === $("filekind").value);
      $("beginner").close();
      show({ file: s.file, kind: s.kind, hash: "", read: "", text: drafts.get(s.file) ?? s.text, before: false });
      say(t("unsaved"));
    } catch (e) { tells($("begintold"), e); }
  };
  $("newfile").onclick = beginNew;
  $("filetext").oninput = changed;
  $("savefile").onclick = save; $("dropfile").onclick = drop;
  $("theirs").onclick = () => { at.read = plainEnds(at.theirs); put(at.theirs); $("theirs").hidden = true; };
  $("asread").onclick = () => put(at.read);
  $("wasfile").onclick = async () => { try { put((await call(path(at.file) + "?before=true")).text, t("filebefore")); } catch (e) { warn(e); } };
  $("asform").onclick = () => { retain("cardview", ""); view(true).then(check); }; $("astext").onclick = () => { retain("cardview", "text"); view(false); };
  $("editor").onclose = () => { clearTimeout(timer); at = null; };
  for (const id of ["beginner", "editor"]) $(id).querySelector?.("header")?.append(shut($(id)));
}
