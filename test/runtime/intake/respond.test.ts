/** `respond`: the response that a sender expects, of a route or a source, for each outcome. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stringify } from 'yaml';
import { startBatchService } from '../../helpers/batch-service.ts';
import { compileConfig, printed } from '../../helpers/compile.ts';

const one = (id: string, more: object = {}) => ({ id, type: 'made', ...more });

describe('a response', () => {
  it('has the status, the body and the headers of its outcome; others keep theirs', async (t) => {
    const respond = {
      accepted: {
        status: 200,
        content_type: 'text/xml',
        body: '<Got id="{id}" at="{route}"/>',
        headers: { 'x-seen': 'no' },
      },
      duplicate: { status: 204 },
      ignored: { body: '' },
    };
    const { post } = await startBatchService(t, { route: { respond, events: ['made'] } });
    const first = await post(one('1'));
    assert.deepEqual(
      [first.status, first.text, first.headers.get('content-type')],
      [200, '<Got id="1" at="feed"/>', 'text/xml'],
    );
    assert.equal(first.headers.get('x-seen'), 'no');
    const again = await post(one('1'));
    assert.deepEqual([again.status, again.text, again.headers.get('content-length')], [204, '', null]);
    const other = await post({ id: '2', type: 'other' });
    assert.deepEqual(
      [other.status, other.text, other.headers.get('content-type')],
      [200, '', 'text/plain; charset=utf-8'],
    );
    const wrong = await post(one('3'), { 'x-token': 'wrong' });
    assert.deepEqual([wrong.status, wrong.body.code], [401, 'invalid_signature']);
  });

  it('of a route replaces that of its source, outcome by outcome', async (t) => {
    const source = { respond: { accepted: { status: 201, body: 'source' }, duplicate: { status: 203 } } };
    const { post } = await startBatchService(t, { source, route: { respond: { accepted: { status: 200 } } } });
    const first = await post(one('1'));
    assert.deepEqual(
      [first.status, first.body],
      [200, { status: 'accepted', route: 'feed', event: 'made', delivery_id: '1' }],
    );
    assert.equal((await post(one('1'))).status, 203);
  });

  it('shows the status URL of the event', async (t) => {
    const respond = { accepted: { body: 'see {status_url} of {delivery_id} {__raw__}' } };
    const { post, url } = await startBatchService(t, { route: { respond, status_url: true } });
    const { text } = await post(one('1'));
    const [, at = '', id, raw = ''] = /^see (\S+) of (\S+) ([\s\S]*)$/.exec(text) ?? [];
    assert.deepEqual([id, JSON.parse(raw), (await fetch(url + at)).status], ['1', one('1'), 200]);
  });

  it('stays JSON for any value: escaped within a string, and as JSON outside of one', async (t) => {
    const body =
      '{"t": "{text} {none["a"]} {list}", "v": {text}, "n": {n}, "l": {list}, "none": {none}, "big": {big}, "raw": {__raw__}}';
    const each = '["{#each list}{.}\\n{/each}"]';
    const respond = {
      accepted: { content_type: 'application/json', body },
      duplicate: { content_type: 'application/problem+json; charset=utf-8', body: each },
    };
    const { post } = await startBatchService(t, { source: { respond } });
    for (const text of ['a "b"\n\\ \u2028{x}', '', '\\', '","x":"', '\u0000\ud800']) {
      const items = ['"', text, { a: '\\' }];
      const sent = one(JSON.stringify(text), { text, n: 1, list: items, big: Array(3000).fill('"') });
      const { text: answer } = await post(sent);
      const { raw, ...others } = JSON.parse(answer);
      const list = JSON.stringify(items);
      assert.deepEqual(others, {
        t: `${text} {none["a"]} ${list}`,
        v: text,
        n: 1,
        l: items,
        none: null,
        big: null,
      });
      assert.equal(raw, null);
      assert.deepEqual(JSON.parse((await post(sent)).text), [`"\n${text}\n{"a":"\\\\"}\n`]);
    }
  });

  it('stays XML for any value', async (t) => {
    const respond = { accepted: { content_type: 'text/xml', body: '<Got id="{id}">{text}{none["a"]}{n}</Got>' } };
    const { post } = await startBatchService(t, { route: { respond } });
    const { text } = await post(one('"><&\'', { text: '</Got><Bad/>', n: 1 }));
    assert.equal(text, '<Got id="&#34;&#62;&#60;&#38;&#39;">&#60;/Got&#62;&#60;Bad/&#62;{none[&#34;a&#34;]}1</Got>');
  });

  it('answers a batch as a whole', async (t) => {
    const respond = {
      accepted: { status: 200, body: '{name} {events.1.id} {delivery_id}' },
      coalesced: { status: 299 },
    };
    const { post } = await startBatchService(t, { route: { respond } });
    const answer = await post({ name: 'n', events: [one('1'), one('2')] }, { 'x-batch': 'b' });
    assert.deepEqual([answer.status, answer.text], [200, 'n 2 b']);
  });

  it('cannot be split by what a payload contains', async (t) => {
    const respond = { accepted: { status: 200, body: '{id}', headers: { 'x-a': 'b' } } };
    const { post } = await startBatchService(t, { route: { respond } });
    const id = 'a\r\nset-cookie: x=1\r\n\r\nHTTP/1.1 200 OK';
    const answer = await post(one(id));
    assert.deepEqual([answer.text, answer.headers.get('set-cookie')], [id, null]);
  });
});

describe('a response that cannot be sent is refused:', () => {
  const cases: readonly (readonly [what: string, response: object, rule: string])[] = [
    ['another status than 2xx', { status: 302 }, 'invalid-number'],
    ['a line break in a header', { headers: { 'x-a': 'a\r\nb: c' } }, 'invalid-value'],
    ['a header with another name', { headers: { 'x a': 'b' } }, 'invalid-name'],
    ['a line break in the content type', { body: 'x', content_type: 'text/plain\r\nx: y' }, 'invalid-value'],
    ...[
      'Content-Length',
      'transfer-encoding',
      'Connection',
      'upgrade',
      'Set-Cookie',
      'content-type',
      'Authorization',
    ].map((name) => [`the header ${name}`, { headers: { [name]: '1' } }, 'response'] as const),
    ['a body with 204', { status: 204, body: 'x' }, 'response'],
    ['a content type without a body', { content_type: 'text/plain' }, 'response'],
    ['a body that is not JSON', { content_type: 'application/json', body: '{"a": {id}' }, 'response'],
    ['a status URL that the route does not have', { body: '{status_url}' }, 'response'],
  ];
  for (const [what, accepted, rule] of cases) {
    it(what, () => {
      const routes = { feed: { prompt: 'x', respond: { accepted } } };
      const webhook = { enabled: true, secret: 'env:WEBHOOK_SECRET', routes };
      const env = { HOME: '/home/user', WEBHOOK_SECRET: '8f1d2b7e9c4a6053f7e1b2c3d4a59687' };
      const compiled = compileConfig(stringify({ platforms: { webhook } }), { env });
      assert.equal(compiled.output, null, printed(compiled));
      assert.ok(
        compiled.diagnostics.some((each) => each.rule === rule),
        printed(compiled),
      );
    });
  }
});

it('a placeholder in a header is sent unchanged, with a warning', () => {
  const headers = { 'x-a': 'of {id}', 'x-b': '{"a": 1}', 'x-c': '{}' };
  const routes = { feed: { prompt: 'x', respond: { accepted: { headers } } } };
  const webhook = { enabled: true, secret: 'env:WEBHOOK_SECRET', routes };
  const env = { HOME: '/home/user', WEBHOOK_SECRET: '8f1d2b7e9c4a6053f7e1b2c3d4a59687' };
  const { output, diagnostics } = compileConfig(stringify({ platforms: { webhook } }), { env });
  assert.deepEqual(output?.table.routes.feed?.respond?.accepted?.headers.slice(0, 2), ['x-a', 'of {id}']);
  const found = diagnostics.filter(({ rule }) => rule === 'template-braces');
  assert.deepEqual(
    found.map(({ severity, message }) => [severity, message.includes('`of {id}`')]),
    [['warning', true]],
  );
});
