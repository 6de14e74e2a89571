// Drives what stands in for VTube Studio with a client that others wrote, and prints one line of JSON a step. A step
// that the client does not take is the last.
import vts from "vtubestudio";
import { WebSocket } from "ws";

const step = (name, value) => console.log(JSON.stringify({ step: name, value }));
const fails = async (name, promise) => {
  try {
    await promise;
    step(name, "was not refused");
  } catch (e) {
    step(name, e instanceof vts.VTubeStudioError ? e.data.errorID : String(e));
  }
};

let token = null;
const client = new vts.ApiClient({
  url: process.argv[2],
  pluginName: "a client",
  pluginDeveloper: "others",
  authTokenGetter: () => token,
  authTokenSetter: async (t) => { token = t; },
  webSocketFactory: (url) => new WebSocket(url),
});
client.on("error", (e) => { step("error", String(e)); process.exit(1); });
await new Promise((done) => client.on("connect", done));
step("token", token);

const hotkeys = await client.hotkeysInCurrentModel();
step("hotkeys", [hotkeys.modelLoaded, hotkeys.modelName, hotkeys.availableHotkeys.map((h) => [h.name, h.type, h.file, h.hotkeyID])]);
step("trigger", (await client.hotkeyTrigger({ hotkeyID: "WAVE" })).hotkeyID);
await fails("cooldown", client.hotkeyTrigger({ hotkeyID: "wave" }));
await fails("no hotkey", client.hotkeyTrigger({ hotkeyID: "fly" }));

await client.expressionActivation({ expressionFile: "sad.exp3.json", active: true });
step("expressions", (await client.expressionState({ details: false })).expressions.map((e) => [e.name, e.file, e.active]));
await fails("no expression", client.expressionActivation({ expressionFile: "mad.exp3.json", active: true }));
await fails("no file of an expression", client.expressionActivation({ expressionFile: "sad", active: true }));

await client.moveModel({ timeInSeconds: 0.2, valuesAreRelativeToModel: false, positionX: 0.1, size: -50 });
await fails("moved too long", client.moveModel({ timeInSeconds: 3, valuesAreRelativeToModel: false }));

await client.parameterCreation({ parameterName: "MyMouth", explanation: "a mouth", min: 0, max: 1, defaultValue: 0 });
await fails("a name too short", client.parameterCreation({ parameterName: "abc", explanation: "", min: 0, max: 1, defaultValue: 0 }));
await fails("a default parameter", client.parameterCreation({ parameterName: "MouthOpen", explanation: "", min: 0, max: 1, defaultValue: 0 }));
await client.injectParameterData({ faceFound: false, mode: "set", parameterValues: [{ id: "MyMouth", value: 0.5 }] });
const list = await client.inputParameterList();
step("parameters", [list.defaultParameters.map((p) => p.name), list.customParameters.map((p) => [p.name, p.addedBy, p.value])]);
await fails("no parameter", client.injectParameterData({ faceFound: false, mode: "set", parameterValues: [{ id: "Nose", value: 1 }] }));
await fails("an unknown request", client.statistics());

const clicked = new Promise((done) => client.events.modelClicked.subscribe(done, { onlyClicksOnModel: true }).then(() => step("subscribed", true)));
const click = await clicked;
step("clicked", [click.modelWasClicked, click.mouseButtonID, click.artMeshHits.map((h) => h.hitInfo.artMeshID)]);
process.exit(0);
