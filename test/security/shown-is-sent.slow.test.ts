/** What a person approves is what is sent: no text of a stranger hides a part of itself, or looks like a text of the gateway. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Parser } from 'commonmark';
import { codeBlock, inert } from '../../base/text.ts';
import { beginText, endText } from '../../modules/guard/runtime/alerts.ts';
import { noticeText } from '../../modules/outputs/runtime/notice.ts';
import { isOneMessage, prepareText } from '../../runtime/deliver/prepare-text.ts';
import { failureMessage } from '../../runtime/dispatch/own-message.ts';
import { addressChanged } from '../../runtime/table/held-place.ts';
import type { Approval } from '../../schemas/built/operations/types.ts';
import { makeDispatch } from '../helpers/dispatches.ts';
import { shippedTargets } from '../helpers/targets.ts';

const HOSTILE: readonly string[] = [
  'fine\n```\n[pay](https://evil.example)',
  'fine\n````````\n# all is approved\n',
  '~~~\n<details><summary>ok</summary>rm -rf</details>',
  '[a safe page](https://evil.example) ![](https://evil.example/x)',
  '<!-- hidden -->\n<img src=x>',
  '||a spoiler|| ~~not this~~ <https://evil.example|bank>',
  'a\u202eb\u200b\u2066c\u{e0041}',
  'x\r```\u2028```\u0085```',
  '@everyone <!channel> <@U123> www.evil.example',
  'hookwright approvals approve other',
  '> quoted\n\n    ```\n\n- ```\n  ```',
  '---',
  '_evil_',
  'Hookwright approvals approve other',
  'WWW.evil.example',
];

/** The Markdown that is neither text nor code. */
function markupOf(text: string): readonly string[] {
  const walker = new Parser().parse(text).walker();
  const found: string[] = [];
  for (let step = walker.next(); step !== null; step = walker.next())
    if (step.entering && !['document', 'paragraph', 'text', 'softbreak', 'code_block'].includes(step.node.type))
      found.push(step.node.type);
  return found;
}

const approvalOf = (text: string): Approval => ({
  ...{ id: `a-0-${'1'.repeat(32)}`, state: 'waiting', profile: 'default', route: 'r', job: null, event: 'push' },
  ...{ target: 'slack', url: null, address: { chat_id: text }, output: 'page', content: { title: text }, text },
  ...{ since: 0, expires_at: 0, answer: null },
});

const OF = { kind: 'run_failed', subject: 'route r' } as const;

for (const text of HOSTILE)
  test(`a notice, an alert and the text of on_failure have no markup: ${JSON.stringify(text)}`, () => {
    const failed = {
      ...makeDispatch('a', { delivery_id: text }),
      on_failure: [{ target: 'x', extra: {}, unresolved: [] }],
    };
    const texts = [
      noticeText(approvalOf(text), 'http://localhost:8645').replace('http://', ''),
      beginText(OF, text),
      beginText({ ...OF, subject: text }, 'why'),
      endText({ ...OF, subject: text, since: 0, last_at: 0, count: 1, reason: '' }, 0),
      failureMessage(failed, text, { dispatch: () => 'b' }, 0).message?.prompt ?? assert.fail(),
    ];
    for (const shown of texts) {
      assert.deepEqual(markupOf(shown), [], shown);
      // Services that know no longer fence end a block at three backticks: each line with them is a fence of the gateway.
      assert.ok(
        shown.split('\n').every((line) => line === '```' || !line.includes('```')),
        shown,
      );
      assert.doesNotMatch(shown, /[\u200b\u202a-\u202e\u2066-\u2069\u2028\u0085]|\r(?!\n)/, shown);
      // Outside of blocks nothing is the stranger's.
      const own = shown.split(/^```\n[\s\S]*?\n```$/m).join('');
      for (const part of ['evil', 'channel', 'approve other']) assert.ok(!own.includes(part), own);
    }
  });

test('a block shows its text, and a plain text stays as it is', () => {
  assert.equal(codeBlock('a\n`b` ``c``'), '```\na\n`b` ``c``\n```');
  for (const text of ['the token is not valid any more', 'HTTP 500: no such chat (a=1)'])
    assert.equal(inert(text), text);
});

test('a block shows each line break for what it is, and what is far to the right', () => {
  const shown = noticeText(approvalOf('a\u2028b\rc\r\r\nd\ve'), null);
  assert.ok(shown.includes('> a\\u2028b\\u000dc\\u000d\n> d\\u000be\n'), shown);
  assert.equal(codeBlock(`a${' '.repeat(79)}b`).includes('\\u'), false);
  for (const far of [' '.repeat(90), '\u3000 '.repeat(60), `${'\u00a0'.repeat(90)}`])
    assert.ok(codeBlock(`ok${far}rm -rf`).includes('\\u0020') || codeBlock(`ok${far}`).includes('\\u00a0'), far);
  assert.notEqual(inert(`ok${' '.repeat(90)}rm`), `ok${' '.repeat(90)}rm`);
});

test('a notice is one message at every target, and says how much is cut', async () => {
  const targets = shippedTargets();
  const cut: string[] = [];
  for (const target of Object.values(targets)) {
    for (const char of ['x', '@', '\u202e', '&']) {
      const approval = approvalOf(char.repeat(Math.ceil(70_000 / char.length)));
      const notice = noticeText({ ...approval, address: {} }, null, (text) => isOneMessage(target, text));
      for (const { text } of target.variants) {
        const sent = await prepareText({ ...text, overflow: 'split', max_pieces: 1000 }, notice);
        if (text.limit === null || text.limit < 400 || text.limit > 60_000) continue;
        assert.equal(sent.kind === 'pieces' && sent.pieces.length, 1, target.name);
        assert.ok(/\b70000 characters, of which .*approvals show/.test(notice), `${target.name} ${notice.slice(-400)}`);
        assert.ok(notice.endsWith(`hookwright approvals reject ${approval.id}`));
        cut.push(target.name);
      }
    }
  }
  assert.ok(new Set(cut).size > 5);
});

test('a message is not sent after its headers changed; one of an older version is', () => {
  const now = { place: { digest: 'd', headers: 'h2' }, home: null };
  const message = { target: 'http', profile: 'default' };
  assert.ok(addressChanged(() => now, { ...message, place: { digest: 'd', headers: 'h1' } }));
  assert.ok(!addressChanged(() => now, { ...message, place: { digest: 'd', headers: 'h2' } }));
  assert.ok(!addressChanged(() => now, { ...message, place: { digest: 'd' } }));
});
