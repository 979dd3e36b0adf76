/**
 * Rejects unclear phrases (`wording.yaml`) in all texts for people: messages of the program, comments, documentation, test names.
 * With paths as arguments, it checks only these files.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Phrase {
  /** A regular expression; case is ignored. */
  readonly find: string;
  /** What to write instead. */
  readonly write: string;
  /** Allows a match if this matches it together with the text before. */
  readonly unless?: string;
}

/** Files with texts. Shapes and generated files repeat texts from elsewhere. */
const CHECKED = /\.(?:tsx?|mjs|md|ya?ml|json|html|css|sh)$/;
const SKIPPED =
  /(?:^|\/)generated\/|^catalog\/(?:shapes|writers)\/|^scripts\/lint\/wording\.yaml$|^compiler\/text\/stand-ins\.yaml$|package-lock\.json$|^test\/(?:.*\/)?fixtures\//;

/** Number of characters before a match that `unless` sees. */
const BEFORE = 12;

const phrases = (parse(readFileSync(new URL('wording.yaml', import.meta.url), 'utf8')) as readonly Phrase[]).map(
  ({ find, write, unless }) => ({
    find: new RegExp(find, 'gi'),
    write,
    unless: unless === undefined ? null : new RegExp(unless, 'i'),
  }),
);

/** @returns `path:line: phrase: write …` for each match */
function complaintsOf(path: string): readonly string[] {
  const text = readFileSync(`${ROOT}/${path}`, 'utf8');
  return phrases.flatMap(({ find, write, unless }) =>
    [...text.matchAll(find)]
      .filter(
        ({ index, 0: match }) => unless?.test(text.slice(Math.max(0, index - BEFORE), index + match.length)) !== true,
      )
      .map(({ index, 0: match }) => `${path}:${text.slice(0, index).split('\n').length}: "${match}": write ${write}`),
  );
}

const tracked = execFileSync('git', ['ls-files', '-z', '--', ...process.argv.slice(2)], {
  cwd: ROOT,
  encoding: 'utf8',
});
const complaints = tracked
  .split('\0')
  .filter((path) => CHECKED.test(path) && !SKIPPED.test(path))
  .flatMap(complaintsOf);
if (complaints.length > 0) {
  process.stderr.write(
    `${complaints.join('\n')}\n${complaints.length} phrases to rewrite: see "Words" in CONTRIBUTING.md\n`,
  );
  process.exitCode = 1;
}
