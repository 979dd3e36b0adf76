/** Checks the grammar of the documentation with Harper, offline. With paths as arguments, it checks only these files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Dialect, LocalLinter } from 'harper.js';
import { slimBinary } from 'harper.js/slimBinary';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Harper rules that report correct text here: technical terms and units that they do not know, sentences that continue after
 * code, and headings in sentence case.
 */
const NOISE = [
  'CompoundNouns',
  'Damages',
  'Dashes',
  'DiscourseMarkers',
  'DisjointPrefixes',
  'Everybody',
  'Everyone',
  'FindOut',
  'HavePronoun',
  'HopHope',
  'ItsContraction',
  'LitotesDirectPositive',
  'MassNouns',
  'MergeWords',
  'MissingDeterminer',
  'MissingPreposition',
  'MissingTo',
  'OrthographicConsistency',
  'Overall',
  'OxfordComma',
  'PhrasalVerbAsCompoundNoun',
  'PronounInflectionBe',
  'PronounKnew',
  'QuantifierNumeralConflict',
  'SentenceCapitalization',
  'SingleBe',
  'Spaces',
  'SpellCheck',
  'SplitWords',
  'TheLastDays',
  'ThereToTheir',
  'ToTwoToo',
  'UseTitleCase',
  'WrongNegative',
];
/** Rules that expand abbreviations such as `config` and `ms`. */
const EXPANDS = /^Expand/;

/** Without the lists of docs/sources.md, which are made from data. */
const pages = (): readonly string[] => [
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md') && name !== 'sources.md')
    .map((name) => join('docs', name)),
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
];

const linter = new LocalLinter({ binary: slimBinary, dialect: Dialect.British });
const defaults = await linter.getDefaultLintConfig();
const off = Object.keys(defaults).filter((name) => NOISE.includes(name) || EXPANDS.test(name));
await linter.setLintConfig({ ...defaults, ...Object.fromEntries(off.map((name) => [name, false])) });

const asked = process.argv.slice(2);
for (const page of asked.length > 0 ? asked : pages()) {
  const text = readFileSync(join(ROOT, page), 'utf8');
  for (const [rule, lints] of Object.entries(await linter.organizedLints(text, { language: 'markdown' }))) {
    for (const lint of lints) {
      const line = text.slice(0, lint.span().start).split('\n').length;
      process.stderr.write(`${page}:${line}: ${lint.message()} (${rule}): ${lint.get_problem_text()}\n`);
      process.exitCode = 1;
    }
  }
}
process.exit();
