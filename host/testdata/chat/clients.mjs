// Talks to the chat door with the packages openai and ai, as their manuals say, and prints
// one line of JSON for each thing that came back. node clients.mjs URL
import OpenAI from 'openai';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';

const baseURL = process.argv[2] + '/v1';
const apiKey = 'none';
const print = (event, more) => console.log(JSON.stringify({ event, ...more }));

const openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });

async function withOpenAI() {
  const models = [];
  for await (const m of openai.models.list()) models.push(m.id);
  print('models', { models });
  print('model', { text: (await openai.models.retrieve('room/main')).id });

  const messages = [{ role: 'system', content: 'You are a cat.' }];
  for (const text of ['Hello there.', '元気ですか？']) {
    messages.push({ role: 'user', content: text });
    const r = await openai.chat.completions.create({ model: 'aya', messages, temperature: 0.7, user: 'ann' });
    messages.push(r.choices[0].message);
    print('openai', { text: r.choices[0].message.content, finish: r.choices[0].finish_reason, usage: r.usage.total_tokens });
  }
  const again = await openai.chat.completions.create({ model: 'aya', messages: messages.slice(0, -1), user: 'ann' });
  print('openai again', { text: again.choices[0].message.content });

  for (const text of ['Hold on, please.', '待って、お願い。']) {
    const stream = await openai.chat.completions.create({
      model: 'aya', messages: [{ role: 'user', content: text }], stream: true, stream_options: { include_usage: true }, user: 'ann',
    });
    let all = '', finish, usage;
    for await (const chunk of stream) {
      const delta = chunk.choices[0]?.delta?.content;
      if (delta && !all) print('first', { text: delta });
      all += delta ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      usage = chunk.usage?.total_tokens ?? usage;
    }
    print('openai stream', { text: all, finish, usage });
  }
  const runner = openai.chat.completions.stream({ model: 'room/main', messages: [{ role: 'user', content: 'And you all?' }], user: 'ann' });
  print('openai runner', { text: await runner.finalContent() });

  for (const [name, call] of Object.entries({
    model: () => openai.chat.completions.create({ model: 'gpt-5', messages: [{ role: 'user', content: 'x' }] }),
    responses: () => openai.responses.create({ model: 'aya', input: 'x' }),
    companion: () => openai.chat.completions.create({ model: 'aya', messages: [{ role: 'user', content: 'x' }], user: 'aya' }),
  })) {
    await call().then(() => print('no error', { text: name }), (e) => print('error ' + name, { text: e.message, status: e.status, code: e.code, param: e.param, type: e.type, name: e.constructor.name }));
  }
}

async function withAI() {
  const provider = createOpenAI({ baseURL, apiKey });
  const compatible = createOpenAICompatible({ name: 'companiond', baseURL, apiKey, includeUsage: true });
  for (const [name, model] of [['openai', provider.chat('aya')], ['compatible', compatible('room/main')]]) {
    const messages = [];
    for (const text of ['Good morning, ' + name + '.', 'おはよう、' + name + '。']) {
      messages.push({ role: 'user', content: text });
      const { text: said, finishReason } = await generateText({ model, system: 'You are a cat.', messages, maxRetries: 0 });
      messages.push({ role: 'assistant', content: said });
      print('ai ' + name, { text: said, finish: finishReason });
    }
    for (const text of ['Hold on, ' + name + '.', '待って、' + name + '。']) {
      const result = streamText({ model, messages: [...messages, { role: 'user', content: text }], maxRetries: 0 });
      let all = '';
      for await (const delta of result.textStream) {
        if (!all) print('first', { text: delta });
        all += delta;
      }
      print('ai ' + name + ' stream', { text: all, finish: await result.finishReason });
    }
  }
  await generateText({ model: provider('aya'), prompt: 'x', maxRetries: 0 }).then(
    () => print('no error', { text: 'responses' }), (e) => print('error ai responses', { text: e.message, status: e.statusCode }));
}

await withOpenAI();
await withAI();
print('done');
