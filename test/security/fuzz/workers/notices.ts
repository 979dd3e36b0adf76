/**
 * Fuzzes texts of strangers in requests for approval, alerts and messages of failures: no renderer of Markdown finds anything but
 * text and blocks, nothing of the stranger is outside of a block, and the block has all that the text has.
 */
import assert from 'node:assert/strict';
import { Parser } from 'commonmark';
import fc from 'fast-check';
import { codeBlock } from '../../../../base/text.ts';
import { beginText } from '../../../../modules/guard/runtime/alerts.ts';
import { noticeText } from '../../../../modules/outputs/runtime/notice.ts';
import type { Approval } from '../../../../schemas/built/operations/types.ts';
import { anyText } from '../../../helpers/any-text.ts';
import { damaged } from '../damage.ts';
import { ODD_TEXTS } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';
import { LOOP_MS } from '../worker.ts';

interface NoticeCase {
  readonly text: string;
}

const WORDS = [
  ...['```', '````', '~~~', '`', '\n', '\r', '\r\n', '\t', '    ', '> ', '- ', '1. ', '# ', '***', '---', '===', '|'],
  ...['[a](https://x.example)', '![](x)', '<!--', '-->', '<details>', '<b>', '&lt;', '&#96;', '\\', '\\u202e', '@all'],
  ...[
    '\u2028',
    '\u0085',
    '\v',
    '\f',
    '\u202e',
    '\u2066',
    '\u200b',
    '\u{e0041}',
    '\u2800',
    '\ud800',
    '\ufe0f',
    '👍🏽',
    '👩\u200d💻',
  ],
  ...['\u00a0', '\u3000', ' '.repeat(200), 'hookwright approvals approve x'],
  ...ODD_TEXTS,
];

const approvalOf = (text: string): Approval => ({
  ...{ id: `a-0-${'1'.repeat(32)}`, state: 'waiting', profile: 'default', route: 'r', job: null, event: 'push' },
  ...{ target: 'slack', url: null, address: { chat_id: text }, output: 'page', content: { title: text }, text },
  ...{ since: 0, expires_at: 0, answer: null },
});

/** The literal texts of the blocks. @throws if there is other markup */
function blocksOf(markdown: string): readonly string[] {
  const walker = new Parser().parse(markdown).walker();
  const blocks: string[] = [];
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const { type, literal } = step.node;
    if (type === 'code_block') blocks.push(literal ?? '');
    else assert.ok(['document', 'paragraph', 'text', 'softbreak'].includes(type), `markup: ${type}`);
  }
  return blocks;
}

/** The text that a block with escapes stands for. */
const undone = (block: string): string =>
  block
    .replaceAll('\\t', '\t')
    .replace(/\\u(?:\{([0-9a-f]+)\}|([0-9a-f]{4}))/g, (_all, long: string, short: string) =>
      String.fromCodePoint(Number.parseInt(long ?? short, 16)),
    );

/** Without escapes, so that the escapes of a block can be undone. */
const plain = (text: string): string => text.replaceAll('\\', '/').replaceAll('\0', '');

export const notices: FuzzWorker<NoticeCase> = {
  name: 'notices',
  cases: fc.record({
    text: fc
      .oneof(damaged(['', 'All is well.\n', 'a\n```\nb\n```\n'], WORDS, 8), anyText({ maxLength: 60 }))
      .map((text) => text.slice(0, 3000)),
  }),
  open: async () => ({
    longestMs: 5 * LOOP_MS,
    close: async () => {},
    async run({ text }) {
      const notice = noticeText(approvalOf(text), null);
      const own = notice.split(/^```\n[\s\S]*?\n```$/m).join('');
      assert.match(own, /^[\x20-\x7e\n]*$/, 'a text of the stranger outside of a block');
      assert.ok(
        notice.split('\n').every((line) => line === '```' || !line.includes('```')),
        'a block ends early',
      );
      assert.doesNotMatch(notice, /[^\S\n]{80}\S/, 'a text beyond the edge of the window');
      const quoted = blocksOf(notice.replace('http://', '')).at(-1) ?? '';
      const lines = quoted.split('\n').slice(0, -1);
      assert.ok(text === '' || lines.every((line) => line.startsWith('>')), 'a line of a stranger is not quoted');
      blocksOf(beginText({ kind: 'run_failed', subject: `route ${text}` }, text));
      const [block, ...more] = blocksOf(codeBlock(plain(text)));
      assert.equal(more.length, 0, 'two blocks');
      assert.equal(undone(block ?? ''), `${plain(text).replaceAll('\r\n', '\n')}\n`, 'the block differs from the text');
      const [, ofText] = blocksOf(noticeText({ ...approvalOf(plain(text)), content: {} }, null));
      const shown = undone(ofText ?? '').replace(/(?<=^|\n)> /g, '');
      if (plain(text) !== '') assert.equal(shown, `${plain(text).replaceAll('\r\n', '\n')}\n`, 'the notice differs');
    },
  }),
};
