/**
 * Tests that no log line controls a terminal, whatever it contains: escape sequences, C1 controls, links (OSC 8), text
 * directions.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createPaint } from '../../base/paint.ts';
import { visible } from '../../cli/output/print.ts';
import { printLogLine } from '../../runtime/platform/logger.ts';
import { anyText } from '../helpers/any-text.ts';

/** Without line breaks, which end a line here. */
const DRIVES = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const HOSTILE = [
  '\x1b]8;;https://evil.example\x1b\\text\x1b]8;;\x1b\\',
  '\x9d8;;https://evil.example\x9ctext',
  '\x1b[2J\x1b[1A',
  '\x9b2J',
  '\x1b]0;title\x07',
  '\x90q\x9c',
  '\r\x08\x7f',
  '\u202egnp.exe\u2066\u200f\u061c',
  '\u2028\u2029\u0085',
];
const paint = createPaint(false);

describe('a line of the log on a terminal', () => {
  for (const text of HOSTILE) {
    it(JSON.stringify(text), () => {
      const everywhere = {
        time: text,
        level: text,
        msg: text,
        route: text,
        event: text,
        delivery_id: text,
        [text]: text,
      };
      const entry = { ...everywhere, reason: [text], about: { [text]: text }, err: { stack: text }, hint: text };
      for (const line of [JSON.stringify(entry), text, `${text}${JSON.stringify(entry)}`])
        assert.doesNotMatch(printLogLine(line, paint, 0), DRIVES);
      assert.doesNotMatch(visible(text), DRIVES);
    });
  }

  it('any text at any position', () => {
    const property = fc.property(anyText(), anyText(), anyText(), (key, value, raw) => {
      assert.doesNotMatch(printLogLine(JSON.stringify({ msg: value, [key]: value, err: value }), paint, 0), DRIVES);
      assert.doesNotMatch(printLogLine(raw.replaceAll('\n', ''), paint, 0), DRIVES);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
