// Plays a game with a checkout of the Neuro TypeScript SDK (AriesAlex/typescript-neuro-game-sdk)
// against a running daemon: startup, register, context, a force whose first action fails, the
// retry, success, unregister, and a connection that comes back without a startup. Each frame has
// to be one that the SDK's own types and code take.
//
//   node --experimental-websocket neuro.mjs CHECKOUT ws://127.0.0.1:3000/neuro/player
//
// Nothing of the SDK is here. Its types are taken off by a typescript beside it, or by a node that
// can (22.13 or newer, which needs no flag).
import * as module from 'node:module'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const [checkout, url] = process.argv.slice(2)
if (!url) {
  console.error('usage: node neuro.mjs CHECKOUT ws://127.0.0.1:3000/neuro/COMPANION')
  process.exit(2)
}

function untyped(source) {
  try {
    const ts = module.createRequire(join(checkout, 'package.json'))('typescript')
    return ts.transpileModule(source, { compilerOptions: { module: 'ESNext', target: 'ES2022' } }).outputText
  } catch (e) {
    if (module.stripTypeScriptTypes) return module.stripTypeScriptTypes(source, { mode: 'transform' })
    throw new Error('no typescript in the checkout, and this node takes no types off: ' + e.message)
  }
}

console.warn = console.error = () => {} // the SDK says much
const log = console.log
console.log = () => {}
const say = (event) => log(JSON.stringify(event))
const source = readFileSync(join(checkout, 'src/index.ts'), 'utf8')
const { NeuroClient } = await import('data:text/javascript;base64,' + Buffer.from(untyped(source)).toString('base64'))

const game = 'Tic Tac Toe'
const cells = { type: 'object', properties: { cell: { enum: ['a1', 'b2', 'c3'] } }, required: ['cell'] }
const actions = [{ name: 'play', description: 'Place an O in a free cell.', schema: cells }, { name: 'pass', description: 'Do nothing.' }]

// Table is a client whose frames and actions can be waited for.
class Table {
  constructor(starts) {
    this.frames = []
    this.actions = []
    this.waiting = []
    class Client extends NeuroClient {
      sendStartup() { if (starts) super.sendStartup() } // an SDK that comes back has said so before
    }
    this.opened = new Promise((done) => { this.client = new Client(url, game, done) })
    this.client.onAction((a) => this.actions.push(a))
    this.client.onClose = () => {}
    this.client.ws.addEventListener('message', (m) => {
      if (typeof m.data !== 'string') this.frames.push({ command: 'binary' })
      else this.frames.push(JSON.parse(m.data))
      setTimeout(() => this.waiting.forEach((look) => look()), 0)
    })
  }
  until(what, ok, ms = 20_000) {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error('waited in vain: ' + what)), ms)
      const look = () => {
        const got = ok()
        if (got) {
          clearTimeout(timer)
          done(got)
        }
      }
      this.waiting.push(look)
      look()
    })
  }
}

const wants = (got, want, what) => {
  if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
}
const sleep = (ms) => new Promise((done) => setTimeout(done, ms))

const first = new Table(true)
await first.opened
await first.until('the startup is answered', () => first.client.sessionId)
say({ startup: { character: first.client.characterId, name: first.client.displayName } })
first.client.registerActions(actions)
first.client.sendContext('You are O.', true)
first.client.forceActions('Your turn.', ['play'], '## Board\n. . .', true, 'high')
const failed = await first.until('an action', () => first.actions[0])
wants([failed.name, failed.params], ['play', { cell: 'a1' }], 'the first action')
first.client.sendContext('a1 holds an X.', true) // waits behind the result
first.client.sendActionResult(failed.id, false, 'a1 is taken')
const played = await first.until('the retry', () => first.actions[1])
wants([played.name, played.params], ['play', { cell: 'b2' }], 'the retry')
first.client.sendActionResult(played.id, true, 'O is in b2')
say({ force: { failed: failed.params, then: played.params } })
first.client.forceActions('Pass.', ['pass', 'no_such_action'])
const passed = await first.until('the second force', () => first.actions[2])
wants([passed.name, passed.params], ['pass', {}], 'an action without a schema')
first.client.sendActionResult(passed.id, true)
first.client.unregisterActions(['play', 'no_such_action'])
first.client.forceActions('Your turn.', ['play'])
await sleep(1500)
wants(first.actions.length, 3, 'actions after they were unregistered')
first.client.sendContext('The game is a draw', false)
await sleep(500)
first.client.disconnect()
say({ frames: first.frames.map((f) => f.command) })

const second = new Table(false)
await second.opened
await second.until('it is asked to offer its actions anew', () => second.frames.find((f) => f.command === 'actions/reregister_all'))
second.client.registerActions(actions)
second.client.forceActions('Your turn.', ['play'])
const again = await second.until('an action after it came back', () => second.actions[0])
second.client.sendActionResult(again.id, true)
say({ back: { frames: second.frames.map((f) => f.command), action: again.name } })
await sleep(500)
second.client.disconnect()
process.exit(0)
