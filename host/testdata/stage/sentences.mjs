// A made-up language model for a stage: it wants to speak, and says four sentences, which come one after the other. So a
// companion that is only a card has lines of several parts.
//
//   node sentences.mjs PORT       # [model.main] url = "http://127.0.0.1:PORT/v1", model = "any"
import { createServer } from 'node:http'

const line = 'It is nice to see you today, and I have something to tell. This is the second of my sentences. The third one is a little longer than those before it were. And that is all!'
const vote = '{"state":"speak","importance":5,"closing":"none","reason":"I have something to tell"}'
const usage = { prompt_tokens: 5, completion_tokens: 5 }
createServer(async (question, answer) => {
  let body = ''
  for await (const part of question) body += part
  const asked = JSON.parse(body)
  const text = asked.response_format ? vote : line
  if (!asked.stream) {
    answer.setHeader('content-type', 'application/json')
    return answer.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }], usage }))
  }
  answer.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta, rest) => answer.write('data: ' + JSON.stringify({ choices: [{ index: 0, delta, ...rest }], usage }) + '\n\n')
  for (const word of text.split(/(?<= )/)) {
    send({ content: word })
    await new Promise((done) => setTimeout(done, 15))
  }
  send({}, { finish_reason: 'stop' })
  answer.end('data: [DONE]\n\n')
}).listen(+process.argv[2], '127.0.0.1')
