import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPaint } from '../../../base/paint.ts';
import { cutToWidth, displayWidth } from '../../../base/text.ts';
import { wantsColour } from '../../../cli/base/context.ts';
import { visible } from '../../../cli/output/print.ts';
import { formatTable } from '../../../cli/output/table.ts';

test('colours follow NO_COLOR, FORCE_COLOR, the terminal and its type, in this order', () => {
  assert.equal(wantsColour({}, true), true);
  assert.equal(wantsColour({}, undefined), false);
  assert.equal(wantsColour({ NO_COLOR: '1', FORCE_COLOR: '1' }, true), false);
  assert.equal(wantsColour({ NO_COLOR: '' }, true), true);
  assert.equal(wantsColour({ FORCE_COLOR: '1' }, false), true);
  assert.equal(wantsColour({ TERM: 'dumb' }, true), false);
  assert.equal(createPaint(false)('red', 'x'), 'x');
});

test('control and direction characters are made visible', () => {
  assert.equal(visible('a\u001b[31mb\n\u202ec'), 'a\\u001b[31mb\\n\\u202ec');
});

test('wide characters have width 2, and combining marks 0', () => {
  assert.equal(displayWidth('abc'), 3);
  assert.equal(displayWidth('日本'), 4);
  assert.equal(displayWidth('e\u0301'), 1);
  assert.equal(displayWidth('👩‍👩‍👧'), 2);
  assert.equal(displayWidth('❤️'), 2);
  assert.equal(displayWidth('1️⃣'), 2);
  assert.equal(cutToWidth('日本語', 5), '日本…');
});

test('a table aligns its columns and is only cut on a terminal', () => {
  const rows = [
    { name: 'alerts', text: 'a text that is far too long for the terminal it is on', n: 7 },
    { name: '日本', text: 'short', n: 12 },
  ];
  const columns = [
    { title: 'NAME', value: (row: (typeof rows)[number]) => row.name },
    { title: 'TEXT', value: (row: (typeof rows)[number]) => row.text },
    { title: 'N', value: (row: (typeof rows)[number]) => row.n, align: 'right' as const },
  ];
  assert.equal(formatTable(rows, columns)[1], `alerts  ${rows[0]?.text}   7`);
  assert.deepEqual(formatTable(rows, columns, 30), [
    'NAME    TEXT                 N',
    'alerts  a text that is fa…   7',
    '日本    short               12',
  ]);
});

test('a wrapped text continues in its column, and no word is cut', () => {
  const rows = [
    { name: 'meta', title: 'Meta (WhatsApp, Messenger, Instagram)', n: 'HMAC' },
    { name: 'x', title: 'Supercalifragilistic', n: 'token' },
  ];
  const columns = [
    { title: 'SOURCE', value: ({ name }: (typeof rows)[0]) => name, whole: true as const },
    { title: 'SENDER', value: ({ title }: (typeof rows)[0]) => title, wrap: true as const },
    { title: 'SIGNS', value: ({ n }: (typeof rows)[0]) => n },
  ];
  assert.deepEqual(formatTable(rows, columns, 38), [
    'SOURCE  SENDER                   SIGNS',
    'meta    Meta (WhatsApp,          HMAC\n        Messenger, Instagram)',
    'x       Supercalifragilistic     token',
  ]);
  assert.ok(formatTable(rows, columns, 20).join('\n').includes('Supercalifragilistic'));
});

test('ids are never cut: other columns move below the row or are left out', () => {
  const id = '7d3e0c1a-5b2f-4e6d-9a8b-0c1d2e3f4a5b';
  const rows = [
    { id, reason: 'the sender stopped after a long time', profile: 'default', url: `http://127.0.0.1/${id}` },
    { id: 'short', reason: '', profile: 'default', url: 'http://127.0.0.1/x' },
  ];
  type Row = (typeof rows)[number];
  const columns = [
    { title: 'ID', value: (row: Row) => row.id, whole: true as const },
    { title: 'NOTE', value: () => '' },
    { title: 'PROFILE', value: (row: Row) => row.profile, usual: 'default' },
    { title: 'REASON', value: (row: Row) => row.reason },
    { title: 'URL', value: (row: Row) => row.url, whole: true as const },
  ];
  assert.deepEqual(formatTable(rows, columns, 60), [
    `${'ID'.padEnd(36)}  REASON`,
    `${id}  the sender stopped af…\n  url: http://127.0.0.1/${id}`,
    'short\n  url: http://127.0.0.1/x',
  ]);
  const reason = '  reason: the sender stopped after a\n          long time';
  assert.equal(formatTable(rows, columns, 40)[1], `${id}\n${reason}\n  url: ${rows[0]?.url}`);
  assert.match(formatTable(rows, columns)[0] ?? '', /^ID +NOTE +PROFILE +REASON +URL$/);
});
