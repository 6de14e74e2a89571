// Runs the prebuilt front-end of Open-LLM-VTuber in headless Chromium against a running daemon: a whole turn, an
// interruption, the history, and another companion. Screenshots go into a folder.
//
//   node ollmv.mjs FRONTEND PLAYWRIGHT ws://127.0.0.1:3000/ollmv/aya/client-ws SHOTS
//
// FRONTEND is the branch "build" of Open-LLM-VTuber-Web, PLAYWRIGHT a folder where npm has installed playwright-core. The
// daemon has to let the page in: origins = ["http://127.0.0.1:12393"] under [door]. Run it in a network of its own.
// With ?sound in the address, and a voice, the page has to play what it is sent, each sound to its end and none over another, to
// tell no sooner that it is done, and to fall silent at an interruption, and at a STOP from elsewhere. The shipped Aya says a line in one
// part; where she is a card alone, sentences.mjs is a model for her that makes it four.
import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { extname, join, normalize } from 'node:path'

const [frontend, playwright, url, shots] = process.argv.slice(2)
if (!shots) {
  console.error('usage: node ollmv.mjs FRONTEND PLAYWRIGHT ws://127.0.0.1:3000/ollmv/COMPANION/client-ws SHOTS')
  process.exit(2)
}
mkdirSync(shots, { recursive: true })
const { chromium } = createRequire(join(playwright, 'x.js'))('playwright-core')
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' }
const server = createServer((q, a) => {
  const path = normalize(join(frontend, new URL(q.url, 'http://x').pathname.replace(/\/$/, '/index.html')))
  if (!path.startsWith(normalize(frontend)) || !existsSync(path)) { a.writeHead(404).end(); return }
  a.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' }).end(readFileSync(path))
})
await new Promise((done) => server.listen(12393, '127.0.0.1', done))

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--mute-audio', '--autoplay-policy=no-user-gesture-required'] })
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
const frames = []
const report = { sent: [], got: [], problems: [] }
page.on('websocket', (ws) => {
  ws.on('framesent', (f) => { const m = JSON.parse(f.payload); report.sent.push(m.type); frames.push(['>', m, Date.now()]) })
  ws.on('framereceived', (f) => { const m = JSON.parse(f.payload); report.got.push(m.type + (m.type === 'control' ? ' ' + m.text : '')); frames.push(['<', m, Date.now()]) })
})
page.on('pageerror', (e) => (report.page ??= []).push(e.message)) // without a Live2D model it has one of its own
await page.addInitScript((u) => localStorage.setItem('wsUrl', JSON.stringify(u)), url)
await page.addInitScript(() => { // what sounds, from when to when
  const play = HTMLMediaElement.prototype.play
  window.sounds = []
  HTMLMediaElement.prototype.play = function () {
    const s = { from: Date.now() }
    window.sounds.push(s)
    const over = (how) => { s.to ??= Date.now(); s.how ??= how; s.takes ??= Math.round(1000 * this.duration) }
    this.addEventListener('ended', () => over('ended'))
    this.pause = () => { over('paused'); HTMLMediaElement.prototype.pause.call(this) }
    return play.call(this)
  }
})
// The page plays no sound without a Live2D model, of which there is none here: for that it is given one that moves nothing.
if (/[?&]sound/.test(url)) {
  await page.addInitScript(() => {
    const model = { startRandomMotion() {}, setExpression() {} }
    Object.defineProperty(window, 'getLive2DManager', { get: () => () => ({ getModel: () => model }), set() {} })
  })
}
report.sounds = []
const sounds = async () => report.sounds.push(...await page.evaluate(() => window.sounds.splice(0)))
await page.goto('http://127.0.0.1:12393/')

// until waits for a frame behind a place in the list.
async function until(what, from, patience = 30000) {
  const end = Date.now() + patience
  for (;;) {
    const i = frames.findIndex((f, i) => i >= from && what(...f))
    if (i >= 0) return i
    if (Date.now() > end) { report.problems.push('did not come: ' + what); return frames.length }
    await new Promise((done) => setTimeout(done, 50))
  }
}
// heardRight says what is wrong with what sounded, and gives figures: how long it was silent between the sounds of a line, how far
// behind its end the page told that it was done, and how long a sound went on behind an interruption.
function heardRight(sounds) {
  const when = (what, from = 0, to = Infinity) => frames.filter(([d, m, at]) => at >= from && at < to && what(d, m)).map((f) => f[2])
  const wrong = (what) => report.problems.push(what)
  const complete = (d, m) => d === '>' && m.type === 'frontend-playback-complete'
  const figures = report.figures = { gaps: [], told: [], silenced: [] }
  sounds.forEach((s, i) => {
    const next = sounds[i + 1]?.from ?? Infinity
    if (!s.to) return wrong(`sound ${i} does not end`)
    if (next < s.to - 20) wrong(`sound ${i} is over the next`)
    if (s.how === 'ended') {
      if (s.to - s.from < s.takes - 50) wrong(`sound ${i} was heard for ${s.to - s.from} of ${s.takes} ms`)
      if (when((d, m) => d === '<' && m.type === 'force-new-message', s.from, next).length === 0) figures.gaps.push(next - s.to)
      else if (when(complete, s.from, s.to).length) wrong(`sound ${i} was not over when the page told that it was`)
      else figures.told.push(when(complete, s.to)[0] - s.to)
    } else figures.silenced.push(s.to - when((d, m) => m.type === 'interrupt-signal', s.from - 100, next)[0])
  })
  if (figures.told.length < 2) wrong('too little sounded')
  if (figures.silenced.length < 2 || figures.silenced.some((ms) => !(ms < 500))) wrong('it was not silenced')
}
const shot = (name) => page.screenshot({ path: join(shots, name + '.png') })
const type = async (text) => {
  const box = page.locator('textarea').first()
  await box.fill(text)
  await box.press('Enter')
}

await until((d, m) => m.type === 'set-model-and-conf', 0)
await until((d, m) => m.type === 'new-history-created', 0)
await page.waitForTimeout(1000)
await shot('1-begin')

let from = frames.length
await type('Hello!')
let spoke = await until((d, m) => d === '<' && m.type === 'audio', from)
await page.waitForTimeout(300)
await shot('2-spoken')
const done = await until((d, m) => d === '>' && m.type === 'frontend-playback-complete', spoke)
await until((d, m) => d === '<' && m.type === 'control' && m.text === 'conversation-chain-end', done)
await shot('3-turn')

// Somebody who types while it speaks interrupts it first. The page throws away sentences that come too soon behind that: the
// answer, and a line behind the hand's button, are played, of which it tells.
const played = (text, from) => until((d, m) => d === '>' && m.type === 'audio-play-start' && m.display_text.text === text, from, 3000)
from = frames.length
await type('Tell me something long, please.')
spoke = await until((d, m) => d === '<' && m.type === 'audio', from)
from = frames.length
await type('Wait!')
await until((d, m) => d === '>' && m.type === 'interrupt-signal', from, 10000)
spoke = await until((d, m) => d === '<' && m.type === 'audio', from)
await played(frames[spoke]?.[1].display_text.text, spoke)
await page.mouse.click(539, 765) // the hand, which has no name
await until((d, m) => d === '>' && m.type === 'interrupt-signal', spoke, 10000)
await page.waitForTimeout(1500)
await shot('4-interrupted')
from = frames.length
await type('Go on, please.')
spoke = await until((d, m) => d === '<' && m.type === 'audio', from)
await played(frames[spoke]?.[1].display_text.text, spoke)
await until((d, m) => d === '<' && m.type === 'control' && m.text === 'conversation-chain-end', spoke)

// The history is there when the page is loaded anew, and so is another companion.
await sounds()
from = frames.length
await page.reload()
await until((d, m) => m.type === 'new-history-created', from)
await page.waitForTimeout(1500)
await page.locator('button:has(svg)').nth(2).click()
await page.getByText('ago').first().waitFor({ timeout: 5000 }).catch(() => report.problems.push('no history is listed'))
await shot('5-histories')
await page.getByText('ago').last().click({ timeout: 3000 }).catch((e) => report.problems.push('' + e))
const history = await until((d, m) => m.type === 'history-data', from)
report.history = frames[history]?.[1].messages.map((m) => m.role + ': ' + m.content)
await page.keyboard.press('Escape')
await page.waitForTimeout(700)
await shot('6-history')

from = frames.length
await page.locator('button:has(svg)').first().click()
await page.waitForTimeout(700)
await shot('7-settings')
const picker = page.locator('[data-part="trigger"]', { hasText: 'Aya' }).first()
await picker.click({ timeout: 5000 }).catch((e) => report.problems.push('no picker: ' + e))
await page.locator('[data-part="item"]', { hasText: 'Kyoko' }).first().click({ timeout: 5000 }).catch((e) => report.problems.push('no Kyoko: ' + e))
await until((d, m) => m.type === 'config-switched', from)
await page.getByRole('button', { name: /save/i }).first().click({ timeout: 3000 }).catch(() => page.keyboard.press('Escape'))
await page.waitForTimeout(700)
from = frames.length
await type('Hello, Kyoko!')
const kyoko = await until((d, m) => d === '<' && m.type === 'audio', from)
report.other = frames[kyoko]?.[1].display_text.name
await until((d, m) => d === '<' && m.type === 'control' && m.text === 'conversation-chain-end', kyoko)
await shot('8-other')
if (/[?&]sound/.test(url)) {
  from = frames.length
  await type('Go on, Kyoko.')
  await until((d, m) => d === '<' && m.type === 'audio' && m.audio, from)
  await page.waitForTimeout(1000)
  await fetch(new URL('/v1/rooms/main/stop', url.replace(/^ws/, 'http')), { method: 'POST' }).then((a) => a.ok || report.problems.push('no STOP: ' + a.status))
  await until((d, m) => d === '<' && m.type === 'interrupt-signal', from, 2000)
  await page.waitForTimeout(4000)
}
await sounds()
if (/[?&]sound/.test(url)) heardRight(report.sounds)
else if (report.sounds.length) report.problems.push('a silent page sounds')
report.histories = frames.filter(([d, m]) => d === '<' && m.type === 'history-list').map(([, m]) => m.histories.length)
report.configs = frames.filter(([d, m]) => d === '<' && m.type === 'config-files').map(([, m]) => m.configs.map((c) => c.filename))
report.frames = frames.map(([d, m]) => d + ' ' + JSON.stringify(m).slice(0, 160))
console.log(JSON.stringify(report))
await browser.close()
server.close()
process.exit(report.problems.length ? 1 : 0)
