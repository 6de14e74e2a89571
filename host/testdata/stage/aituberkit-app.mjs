// Runs the app AITuberKit in headless Chromium against a running daemon: three pages, for Aya, Kyoko and Natsumi in one
// room. Each sound that a page makes is noted, with its time, and none may be over another.
//
//   node aituberkit-app.mjs CHECKOUT PLAYWRIGHT DAEMON RUN SHOTS
//
// CHECKOUT is AITuberKit with its packages installed, PLAYWRIGHT a folder where npm has installed playwright-core, DAEMON the
// program, RUN a folder with a companiond.toml that listens on 127.0.0.1:3999, lets http://127.0.0.1:3000 in and has the three in
// its characters. Run it in a network of its own: unshare -n, and ip link set lo up. VOICE is how many milliseconds a
// sound takes to be made, 300 if nothing else is said, and LETTER how many it lasts for each letter, 60.
//
// Nothing of AITuberKit is here: its license is its own.
import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const [checkout, playwright, daemon, run, shots] = process.argv.slice(2)
if (!shots) {
  console.error('usage: node aituberkit-app.mjs CHECKOUT PLAYWRIGHT DAEMON RUN SHOTS')
  process.exit(2)
}
mkdirSync(shots, { recursive: true })
const { chromium } = createRequire(join(playwright, 'x.js'))('playwright-core')
const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
const report = { problems: [], sounds: [], heard: [] }
let voice = Number(process.env.VOICE ?? 300)
let letter = Number(process.env.LETTER ?? 60)

// A voice that answers as VOICEVOX does, with a tone.
const wav = (seconds) => {
  const rate = 8000, n = Math.round(rate * seconds), b = Buffer.alloc(44 + 2 * n)
  b.write('RIFF', 0); b.writeUInt32LE(36 + 2 * n, 4); b.write('WAVEfmt ', 8); b.writeUInt32LE(16, 16)
  b.writeUInt16LE(1, 20); b.writeUInt16LE(1, 22); b.writeUInt32LE(rate, 24); b.writeUInt32LE(2 * rate, 28); b.writeUInt16LE(2, 32); b.writeUInt16LE(16, 34)
  b.write('data', 36); b.writeUInt32LE(2 * n, 40)
  for (let i = 0; i < n; i++) b.writeInt16LE(Math.round(3000 * Math.sin(i / 3)), 44 + 2 * i)
  return b
}
createServer(async (q, a) => {
  const u = new URL(q.url, 'http://x')
  const parts = []
  for await (const p of q) parts.push(p)
  report.voice = (report.voice ?? 0) + 1
  if (u.pathname === '/audio_query') return a.setHeader('content-type', 'application/json').end(JSON.stringify({ text: u.searchParams.get('text') }))
  if (u.pathname !== '/synthesis') return a.writeHead(404).end()
  await sleep(voice)
  a.setHeader('content-type', 'audio/wav').end(wav(letter / 1000 * JSON.parse(Buffer.concat(parts).toString()).text.length))
}).listen(50021, '127.0.0.1')

let house
const start = () => { house = spawn(daemon, ['run'], { cwd: run, stdio: 'ignore' }) }
const app = spawn('npx', ['next', 'dev', '-H', '127.0.0.1', '-p', '3000'], { cwd: checkout, stdio: 'ignore', detached: true, env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', VOICEVOX_SERVER_URL: 'http://127.0.0.1:50021', NEXT_PUBLIC_SELECT_LANGUAGE: 'ja', NEXT_PUBLIC_SELECT_VOICE: 'voicevox', NEXT_PUBLIC_SHOW_INTRODUCTION: 'false' } })
const end = async (code) => {
  console.log(JSON.stringify(report))
  house?.kill('SIGKILL')
  try { process.kill(-app.pid, 'SIGKILL') } catch { /* it is gone */ }
  process.exit(code)
}
process.on('uncaughtException', (e) => { report.problems.push(String(e.stack)); end(1) })
start()

const up = async (url) => {
  for (let i = 0; i < 240; i++) {
    try { if ((await fetch(url)).status < 500) return } catch { /* not yet */ }
    await sleep(500)
  }
  report.problems.push(url + ' does not come up')
  await end(1)
}
await up('http://127.0.0.1:3999/v1/rooms')
await up('http://127.0.0.1:3000/')

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--autoplay-policy=no-user-gesture-required', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] })
const pages = {}
const begun = []
for (const who of ['aya', 'kyoko', 'natsumi']) {
  const page = await (await browser.newContext({ viewport: { width: 900, height: 600 } })).newPage()
  await page.exposeFunction('noteSound', (from, to) => report.sounds.push({ who, from, to }))
  await page.exposeFunction('noteBegin', (from, long) => begun.push({ who, from, long }))
  page.on('console', (m) => { if (m.type() === 'error' || process.env.LOUD) (report.console ??= []).push(who + ': ' + m.text().slice(0, 200)) })
  page.on('websocket', (ws) => {
    if (!ws.url().includes('/aituberkit/')) return
    const note = (d) => (f) => { try { const m = JSON.parse(f.payload); (report.frames ??= []).push([Date.now(), who, d, m.type, m.payload?.text ?? '']) } catch { /* not JSON */ } }
    ws.on('framesent', note('>'))
    ws.on('framereceived', note('<'))
  })
  await page.addInitScript(({ url, version }) => {
    localStorage.setItem('aitube-kit-settings', JSON.stringify({ version, state: {
      externalLinkageMode: true, externalLinkageUrl: url, selectVoice: 'voicevox', voicevoxServerUrl: 'http://127.0.0.1:50021', modelType: 'pngtuber', selectLanguage: 'ja', showAssistantText: true,
    } }))
    localStorage.setItem('aitube-kit-home', JSON.stringify({ version: 0, state: { showIntroduction: false } }))
    const begin = AudioBufferSourceNode.prototype.start
    AudioBufferSourceNode.prototype.start = function (...args) {
      const from = Date.now()
      const long = this.buffer?.duration ?? 0
      if (long > .05) window.noteBegin(from, long)
      if (long > .05) this.addEventListener('ended', () => window.noteSound(from, Date.now()))
      return begin.apply(this, args)
    }
    const play = HTMLMediaElement.prototype.play
    HTMLMediaElement.prototype.play = function (...args) {
      const from = Date.now()
      this.addEventListener('ended', () => window.noteSound(from, Date.now()), { once: true })
      return play.apply(this, args)
    }
  }, { url: `ws://127.0.0.1:3999/aituberkit/${who}/ws?from=taro`, version: Number(process.env.SETTINGS ?? 0) })
  await page.goto('http://127.0.0.1:3000/', { timeout: 240000 })
  pages[who] = page
}
await sleep(8000)
for (const [who, page] of Object.entries(pages)) await page.screenshot({ path: join(shots, `1-${who}.png`) })

const say = (to, text) => fetch('http://127.0.0.1:3999/v1/rooms/main/messages', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ from: 'hana', to: [to], text }) })
const quiet = async (ms, most) => { // until nothing is said for a while
  const over = Date.now() + most
  for (let n = -1, at = Date.now(); Date.now() - at < ms && Date.now() < over; await sleep(200)) {
    if (report.sounds.length !== n) { n = report.sounds.length; at = Date.now() }
  }
}
const first = async (who, n = 0) => { // waits for a sentence to be sent
  const from = Date.now()
  while (Date.now() - from < 40000) {
    const f = (report.frames ?? []).slice(n).find((f) => f[1] === who && f[2] === '<' && f[3] === 'chat.delta')
    if (f) return true
    await sleep(100)
  }
  report.problems.push('nothing is sent to the page of ' + who)
}

// A turn that the daemon begins, of all three; one that is typed in a page.
await say('aya', 'Hello, all of you!')
await first('aya')
await quiet(12000, 90000)
if (process.env.QUICK) await end(0)
let n = report.frames.length
await pages.kyoko.locator('textarea').first().evaluate((box) => { // an overlay of the development server may cover it
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(box, 'Hello, Kyoko!')
  box.dispatchEvent(new Event('input', { bubbles: true }))
  box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
})
await first('kyoko', n)
report.typed = report.frames.slice(n).filter((f) => f[1] === 'kyoko').slice(0, 12).map((f) => f.slice(2).join(' '))
await quiet(12000, 60000)

// A slow voice: somebody speaks over a sentence that makes no sound yet, and then says STOP.
voice = 4000
for (const stops of [false, true]) {
  n = report.frames.length
  await say('aya', 'Aya, tell me something long, please.')
  await first('aya', n)
  await sleep(500)
  if (stops) await fetch('http://127.0.0.1:3999/v1/rooms/main/stop', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ from: 'hana' }) })
  await say('natsumi', 'Natsumi, and you?')
  await first('natsumi', n)
  await quiet(15000, 60000)
}

// The daemon is killed, or stopped, in the middle of a long sentence, and started again at once.
voice = 300
letter *= 2
report.ends = []
const ends = Number(process.env.ENDS ?? 6)
for (let i = 0; i < ends; i++) {
  await say('aya', 'Aya, tell me something long, please.')
  let sound
  for (const from = Date.now(), n = begun.length; Date.now() - from < 60000 && !sound; await sleep(20)) sound = begun.slice(n).find((x) => x.long > 3 && Date.now() - x.from < 500)
  if (!sound) report.problems.push('no sound is long')
  else report.ends.push(`${sound.who} sounds for ${sound.long.toFixed(1)} s`)
  await sleep(300)
  house.kill(i % 2 ? 'SIGTERM' : 'SIGKILL')
  if (house.exitCode === null && house.signalCode === null) await new Promise((gone) => house.once('exit', gone))
  start()
  await up('http://127.0.0.1:3999/v1/rooms')
  await sleep(i < ends - 1 ? 16000 : 35000) // within which a page connects again
}
n = report.frames.length
await say('natsumi', 'Are you back?')
await first('natsumi', n)
await quiet(12000, 60000)
for (const [who, page] of Object.entries(pages)) await page.screenshot({ path: join(shots, `2-${who}.png`) })

report.sounds.sort((a, b) => a.from - b.from)
report.sounds.forEach((s, i, all) => all.slice(0, i).forEach((o) => { // all pairs: a long sound is over several
  if (s.from < o.to - 60) report.problems.push(`${s.who} begins ${o.to - s.from} ms before ${o.who} has ended`)
}))
report.count = report.sounds.reduce((c, s) => ({ ...c, [s.who]: (c[s.who] ?? 0) + 1 }), {})
report.frames = undefined
await browser.close()
await end(report.problems.length ? 1 : 0)
