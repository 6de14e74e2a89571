// Runs the protocol functions of a checkout of AITuberKit against a running daemon: a person's turn,
// a turn that nobody of the connection asked for, a cancel, and the older frames. Each frame that is
// sent has to be understood by one of those functions, and what they make is sent back.
//
//   node --experimental-websocket aituberkit.mjs CHECKOUT ws://127.0.0.1:3000/aituberkit/aya/ws
//
// Nothing of AITuberKit is here: its license is its own. Its types are taken off by the checkout's own
// typescript, or by a node that can (22.13 or newer, which needs no flag).
import * as module from 'node:module'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const [checkout, url] = process.argv.slice(2)
if (!url) {
  console.error('usage: node aituberkit.mjs CHECKOUT ws://127.0.0.1:3000/aituberkit/COMPANION/ws')
  process.exit(2)
}

function untyped(source) {
  try {
    const ts = module.createRequire(join(checkout, 'package.json'))('typescript')
    return ts.transpileModule(source, { compilerOptions: { module: 'ESNext', target: 'ES2022' } }).outputText
  } catch (e) {
    if (module.stripTypeScriptTypes) return module.stripTypeScriptTypes(source)
    throw new Error('no typescript in the checkout, and this node takes no types off: ' + e.message)
  }
}

const source = readFileSync(join(checkout, 'src/features/externalLinkage/externalLinkageProtocol.ts'), 'utf8')
const kit = await import('data:text/javascript;base64,' + Buffer.from(untyped(source)).toString('base64'))

const emotions = ['neutral', 'happy', 'angry', 'sad', 'relaxed', 'surprised']
const problems = []
const say = (event) => console.log(JSON.stringify(event))
const sleep = (ms) => new Promise((done) => setTimeout(done, ms))

// Front is the app as far as the wire sees it.
class Front {
  constructor() {
    this.turns = []
    this.controls = []
    this.v2 = false
    this.ws = new WebSocket(url)
    this.ws.onmessage = (m) => this.take(JSON.parse(m.data))
    this.opened = new Promise((done, fail) => {
      this.ws.onopen = done
      this.ws.onerror = () => fail(new Error('cannot connect to ' + url))
    })
  }
  send(frame) { this.ws.send(JSON.stringify(frame)) }
  take(frame) {
    const control = kit.normalizeExternalLinkageControlEvent(frame)
    if (control) {
      this.controls.push(control)
      if (control.type === 'session.ready' && !this.older) {
        this.v2 = true
        this.send(kit.createExternalLinkageHelloEvent())
      }
    }
    const message = kit.normalizeExternalLinkageIncomingMessage(frame)
    if (!control && !message) problems.push('not understood: ' + JSON.stringify(frame))
    if (!message || frame.type === 'session.ready') return
    if (!emotions.includes(message.emotion)) problems.push('no emotion of the app: ' + JSON.stringify(frame))
    const name = message.requestId ?? ''
    if (message.type === 'start') this.turns.push({ name, sentences: [], emotions: [], ended: false, speaking: Promise.resolve() })
    const turn = this.turns.findLast((t) => t.name === name && !t.ended)
    if (message.type === 'end') {
      if (turn) {
        turn.ended = true
        turn.speaking.then(() => this.lives('character.response.done', turn, { speechSegmentCount: turn.sentences.length }))
      }
    } else if (message.type === '' && message.text) {
      if (!turn) return problems.push('a sentence outside of a turn: ' + JSON.stringify(frame))
      turn.sentences.push(message.text)
      turn.emotions.push(message.emotion)
      turn.speaking = turn.speaking.then(async () => {
        this.lives('character.speech.start', turn, { text: message.text })
        await sleep(30 * message.text.length)
        this.lives('character.speech.done', turn, { text: message.text })
      })
    }
  }
  lives(type, turn, more) {
    if (this.v2 && turn.name) this.send(kit.createExternalLinkageLifecycleEvent(type, turn.name, more))
  }
  async until(what, ok) {
    for (const end = Date.now() + 30000; Date.now() < end; await sleep(20)) {
      const got = ok()
      if (got) return got
    }
    throw new Error('not seen within 30 s: ' + what)
  }
}

async function main() {
  const front = new Front()
  await front.opened
  await front.until('session.ready', () => front.v2)

  const chat = kit.createV2ExternalLinkageChatEvent('Hello! Who are you?')
  front.send(chat)
  await front.until('the ack', () => front.controls.some((c) => c.type === 'ack' && c.requestId === chat.id))
  const turn = await front.until('an answer', () => front.turns.find((t) => t.name === chat.id && t.ended && t.sentences.length))
  say({ event: 'a person\'s turn', sentences: turn.sentences, emotions: turn.emotions })

  front.send(kit.createExternalLinkagePingEvent())
  await front.until('pong', () => front.controls.some((c) => c.type === 'pong'))
  say({ event: 'pong' })

  const at = new URL(url.replace(/^ws/, 'http'))
  const companion = at.pathname.split('/')[2]
  const room = at.searchParams.get('room') ?? 'main'
  const said = await fetch(new URL(`/v1/rooms/${room}/messages`, at), {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ from: 'hanako', text: `And you, ${companion}?`, to: [companion] }),
  })
  if (!said.ok) throw new Error('say: ' + said.status + ' ' + (await said.text()))
  const begun = await front.until('a turn of the daemon\'s', () => front.turns.find((t) => t.name !== chat.id && t.ended && t.sentences.length))
  say({ event: 'a turn of the daemon\'s', name: begun.name, sentences: begun.sentences })

  const long = kit.createV2ExternalLinkageChatEvent('Tell me a long story.')
  front.send(long)
  await front.until('a line to cancel', () => front.turns.find((t) => t.name === long.id))
  front.send(kit.createExternalLinkageCancelEvent(long.id))
  await front.until('its end', () => front.controls.some((c) => c.type === 'chat.done' && c.requestId === long.id))
  say({ event: 'cancelled' })
  front.ws.close()

  const older = new Front()
  older.older = true
  await older.opened
  older.send(kit.createLegacyExternalLinkageChatPayload('Hello again!'))
  const plain = await older.until('an answer in the older frames', () => older.turns.find((t) => t.name === '' && t.ended && t.sentences.length))
  say({ event: 'the older frames', sentences: plain.sentences })
  older.ws.close()
}

try {
  await main()
} catch (e) {
  problems.push(e.message)
}
for (const p of problems) console.error(p)
say({ event: problems.length ? 'failed' : 'all understood', problems: problems.length })
process.exit(problems.length ? 1 : 0)
