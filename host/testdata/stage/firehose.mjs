// One client of aikyo's, against aikyo's own Firehose and against companiond: what each sends it has to be the
// same, but for ids and words.
//
//   node --import tsx firehose.mjs CHECKOUT real          starts two Firehoses of the checkout, one of them for a companion
//   node --import tsx firehose.mjs CHECKOUT ws://...      a daemon with a companion "aya" that answers
//
// Nothing of aikyo is here. Run it in packages/firehose of the checkout, where its packages are installed, and in a
// network of its own: the Firehose listens on all addresses.
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [checkout, where] = process.argv.slice(2)
if (!where) {
  console.error('usage: node --import tsx firehose.mjs CHECKOUT real | ws://127.0.0.1:8080')
  process.exit(2)
}
const packages = join(checkout, 'packages/firehose')
const need = createRequire(join(packages, 'package.json'))
const { WebSocket } = need('ws')
const { z } = need('zod')
const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
Promise.withResolvers ??= () => {
  const it = {}
  it.promise = new Promise((resolve, reject) => Object.assign(it, { resolve, reject }))
  return it
}

// The checkout's schemas, without what is not for the wire.
const schemas = readFileSync(join(checkout, 'packages/server/schema/index.ts'), 'utf8')
const from = schemas.indexOf('export const StateBodySchema')
const text = schemas.slice(from).replace(/^export type .*$/gm, '').replace(/export const/g, 'const')
const { MessageSchema, ActionSchema, QuerySchema, StateSchema } =
  new Function('z', text + '; return { MessageSchema, ActionSchema, QuerySchema, StateSchema }')(z)

// A client keeps what it is sent.
async function connect(url, heard = () => {}) {
  const ws = new WebSocket(url)
  const frames = []
  ws.on('message', (raw) => { const f = JSON.parse(raw.toString()); frames.push(f); heard(f, ws) })
  await new Promise((done, fail) => { ws.on('open', done); ws.on('error', fail) })
  return { ws, frames, send: (f) => ws.send(typeof f === 'string' ? f : JSON.stringify(f)) }
}

const query = (id, type, body) => ({ jsonrpc: '2.0', method: 'query.send', id, params: { from: 'aya', type, body } })
const said = (id, from, to, message, metadata) => ({ jsonrpc: '2.0', method: 'message.send', params: { id, from, to, message, ...(metadata && { metadata }) } })

let url = where
if (where === 'real') {
  const load = (name) => { // they have no entry for require
    const dir = join(packages, 'node_modules', name)
    return import(pathToFileURL(join(dir, JSON.parse(readFileSync(join(dir, 'package.json'))).exports['.'].import)))
  }
  const { Firehose } = await import(pathToFileURL(join(packages, 'index.ts')))
  const [{ gossipsub }, { noise }, { yamux }, { identify }, { tcp }] = await Promise.all(
    ['@chainsafe/libp2p-gossipsub', '@chainsafe/libp2p-noise', '@chainsafe/libp2p-yamux', '@libp2p/identify', '@libp2p/tcp'].map(load))
  const config = () => ({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }, transports: [tcp()], connectionEncrypters: [noise()], streamMuxers: [yamux()],
    services: { pubsub: gossipsub({ allowPublishToZeroTopicPeers: true }), identify: identify() },
  })
  const hoses = [new Firehose(18080, config()), new Firehose(18081, config())]
  for (const h of hoses) {
    await h.start()
    for (const topic of ['messages', 'queries', 'actions']) await h.subscribe(topic, (data) => h.broadcastToClients(data))
    await h.subscribe('states')
  }
  await hoses[0].libp2p.dial(hoses[1].libp2p.getMultiaddrs())
  await sleep(2500) // gossip finds out who listens to what
  url = 'ws://127.0.0.1:18080'
  // A companion with aikyo's speak-query tool.
  let line
  await connect('ws://127.0.0.1:18081', (f, ws) => {
    const publish = (topic, body) => ws.send(JSON.stringify({ topic, body }))
    if (f.method === 'message.send') {
      line = { to: [f.params.from], message: 'Hello! I am Aya.', emotion: 'neutral' }
      publish('queries', query('q1', 'speak', { message: line.message, emotion: line.emotion }))
    } else if (f.id === 'q1' && f.result) {
      publish('messages', said('m1', 'aya', line.to, line.message, { emotion: line.emotion }))
    }
  })
}

// What is wrong with a shape is compared letter by letter, where the Firehose looks at it at all.
const report = { errors: {}, frames: [], problems: [] }
const rubbish = ['{"topic":', '[]', '7', 'null', '{}', '{"topic":7,"body":{}}', '{"topic":"messages"}', '{"topic":"messages","body":[]}', '{"topic":"messages","body":"x"}', '{"topic":"weather","body":{}}']
{
  const c = await connect(url)
  for (const message of rubbish) {
    c.frames.length = 0
    c.send(message)
    await sleep(150)
    report.errors[message] = [...c.frames]
  }
  c.ws.close()
}

// A whole turn: the client says something, speaks what it is asked to, and is sent the message behind that.
{
  let spoke
  const all = new Promise((done) => { spoke = done })
  const c = await connect(url + (where === 'real' ? '' : (url.includes('?') ? '&' : '?') + 'playback=1'), async (f, ws) => {
    if (f.method === 'query.send' && f.params.type === 'speak') {
      await sleep(300)
      ws.send(JSON.stringify({ topic: 'queries', body: { jsonrpc: '2.0', id: f.id, result: { success: true, body: {} } } }))
    }
    if (f.method === 'message.send') spoke()
  })
  c.send({ topic: 'messages', body: said('0b7e2c1d-77aa-4a55-8f0e-0f1a2b3c4d5e', 'user_yamada', ['aya'], 'Hello Aya!') })
  await Promise.race([all, sleep(20000).then(() => report.problems.push('no message within 20 s'))])
  for (const f of c.frames) {
    const schema = { 'message.send': MessageSchema, 'query.send': QuerySchema, 'action.send': ActionSchema, 'state.send': StateSchema }[f.method]
    const parsed = schema?.safeParse(f)
    if (!parsed?.success) report.problems.push(JSON.stringify(f) + ' ' + parsed?.error)
    const p = f.params
    report.frames.push(f.method + ' ' + p.from + ' ' + Object.keys(p).sort() + ' ' + (p.type ?? '') + ' ' + Object.keys(p.body ?? p.metadata ?? {}).sort())
  }
  c.ws.close()
}
report.frames = report.frames.filter((f, i, all) => f !== all[i - 1]) // a line may be spoken in parts
console.log(JSON.stringify(report))
process.exit(report.problems.length ? 1 : 0)
