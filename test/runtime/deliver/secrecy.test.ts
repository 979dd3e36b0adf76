/** Tests that credentials appear only on the wire: over every case, every kind of response, every text that people can see. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryTo } from '../../helpers/deliveries.ts';
import type { Answer, FakeAnswer } from '../../helpers/fake-http.ts';
import { TARGET_CASES } from '../../helpers/target-cases.ts';
import { startTarget } from '../../helpers/target-fake.ts';

/** A successful response in which every text is the value. */
function echoIn(answer: FakeAnswer | undefined, value: string): FakeAnswer {
  if (answer === undefined || typeof answer.body === 'string') return { status: 400, body: value };
  const text = JSON.stringify(answer.body, (_, inner: unknown) => (typeof inner === 'string' ? value : inner));
  return { ...answer, body: JSON.parse(text) };
}

function fillUrl(answer: Answer, url: string): Answer {
  if (typeof answer === 'string' || typeof answer === 'function') return answer;
  return { ...answer, body: JSON.parse(JSON.stringify(answer.body).replaceAll('{server}', url)) };
}

for (const one of TARGET_CASES) {
  test(`${one.target}, ${one.name}: no credential in outcomes, logs, dry runs`, async (t) => {
    const answers: Answer[] = [
      ...one.ok,
      ...one.auth,
      ...one.permanent,
      ...one.rate.map(([answer]) => answer),
      { status: 500, body: `canary ${JSON.stringify(one.settings)}` },
      'drop',
    ];
    // Services that echo a credential where an error code or a message id belongs.
    const echoes = [...Object.values(one.settings), ...(one.exchange === undefined ? [] : ['canary-1'])].flatMap(
      (value): readonly FakeAnswer[] => {
        const fields = ['error', 'code', 'errcode', 'id', 'error_code', 'ts', 'sid', 'msgid', 'event_id'];
        const codes = Object.fromEntries(fields.map((name) => [name, value]));
        return [
          { status: 400, body: codes },
          { status: 400, body: { error: { code: value } } },
          echoIn(one.ok[0], value),
        ];
      },
    );
    const all = [...answers, ...echoes];
    const { deliverer, sends } = await startTarget(t, one, (index, _, url) => fillUrl(all[index] ?? 'drop', url));
    const seen: unknown[] = [];
    const request = deliveryTo(one.target, { extra: one.extra ?? {} });
    for (const _ of all) seen.push(await deliverer.deliver(request));
    seen.push(await deliverer.deliver({ ...request, extra: { chat_id: '\n' } }));
    seen.push(await deliverer.show(request), deliverer.log, deliverer.problems);
    assert.ok(sends.length >= all.length, 'every answer was given');
    assert.doesNotMatch(JSON.stringify(seen), /canary/);
  });
}
