/** README's pictures: the session in the terminal shows what the commands print today, and each picture is there for light and dark pages. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EVENT_IN_WORDS } from '../../scripts/docs/event-picture.ts';
import { PALETTES } from '../../scripts/docs/palette.ts';
import { recordSession } from '../../scripts/docs/record-session.ts';
import { drawTerminal } from '../../scripts/docs/terminal-picture.ts';
import { ROOT } from '../helpers/root.ts';

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

test('the session is what the commands print: else run `npm run session`', async () => {
  const session = await recordSession();
  for (const [name, palette] of Object.entries(PALETTES)) {
    const drawn = readFileSync(join(ROOT, `docs/images/session-${name}.svg`), 'utf8');
    assert.deepEqual(drawn.split('\n'), drawTerminal(session, palette).split('\n'));
  }
});

test('README shows each picture in light and in dark, and says in words what the first one shows', () => {
  const pictures = [...readme.matchAll(/(?:srcset|src)="\.\/([^"]+)"/g)].map(([, path = '']) => path);
  assert.deepEqual(
    pictures,
    ['event-dark', 'event-light', 'session-dark', 'session-light'].map((name) => `docs/images/${name}.svg`),
  );
  for (const path of pictures) assert.ok(existsSync(join(ROOT, path)), path);
  assert.ok(readme.includes(EVENT_IN_WORDS));
});
