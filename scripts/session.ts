/** `npm run session`: runs the session that README shows and draws it. `test/docs/pictures.slow.test.ts` says when that is due. */
import { writeFileSync } from 'node:fs';
import { PALETTES } from './docs/palette.ts';
import { recordSession } from './docs/record-session.ts';
import { drawTerminal } from './docs/terminal-picture.ts';

const session = await recordSession();
for (const [name, palette] of Object.entries(PALETTES)) {
  writeFileSync(new URL(`../docs/images/session-${name}.svg`, import.meta.url), drawTerminal(session, palette));
}
