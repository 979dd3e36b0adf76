/** Prints a draft as YAML, with comments that state each route's origin and what differs from the original. */
import type { Scalar, YAMLMap } from 'yaml';
import { Document, isMap, isScalar, isSeq, visit } from 'yaml';
import type { Draft, DraftRoute } from './draft.ts';
import { webhookOf } from './draft.ts';
import type { Entry } from './report.ts';

/** Comments wrap at this column. */
const WIDTH = 100;

export function printDraft(draft: Draft): string {
  const { config, routes } = draft;
  // A Map keeps the order of numeric names; an object does not.
  webhookOf(draft).routes = new Map(routes.map(({ name, settings }) => [name, settings]));
  const document = new Document(config);
  document.commentBefore = comment([
    `Converted from ${oneLine(draft.file)}, a config of ${draft.origin}, by \`hookwright convert\`.`,
    'A route with `enabled: false` answers 403: read the comments above it before you remove that line.',
  ]);
  const entries = draft.report.entries();
  const { items } = document.getIn(['platforms', 'webhook', 'routes']) as YAMLMap<Scalar>;
  for (const [at, route] of routes.entries())
    if (items[at] !== undefined) items[at].key.commentBefore = comment(about(draft, route, entries));
  layOut(document);
  return document.toString({ lineWidth: 0, blockQuote: 'literal', flowCollectionPadding: false });
}

/** Prints lists of scalars, and maps of scalars in lists, on one line if they fit. */
function layOut(document: Document): void {
  visit(document, {
    Seq: (_, node) => {
      if (node.items.every(isScalar) && fits(node.items.map(({ value }) => value))) node.flow = true;
      for (const item of node.items)
        if (
          isMap(item) &&
          item.items.every(({ value }) => isScalar(value) || (isSeq(value) && value.items.every(isScalar)))
        )
          item.flow = fits(Object.values(item.toJSON() as object)) && !(item.items.length > 2);
    },
  });
}

/** Multi-line texts are printed as blocks. */
const fits = (values: readonly unknown[]): boolean => {
  const text = JSON.stringify(values);
  return text.length < 90 && !text.includes('\\n');
};

function about({ file, report }: Draft, route: DraftRoute, entries: readonly Entry[]): readonly string[] {
  const differences = entries.filter((entry) => entry.route === route.name && entry.fate !== 'carried');
  return [
    `${oneLine(file)}:${report.placeOf(route.path).line}: ${oneLine(route.from)}`,
    ...differences.map((entry) => {
      const instead = entry.instead === '' ? '' : `. ${entry.instead}`;
      const key = entry.path.slice(route.path.length).join('.');
      return oneLine(`${entry.fate}: ${key === '' ? '' : `${key}: `}${entry.reason}${instead}`);
    }),
  ];
}

const comment = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => wrap(line, WIDTH))
    .map((line) => ` ${line}`)
    .join('\n');

/** Foreign names may contain any character, but must not end a comment line. */
const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');

/** Wraps text at spaces to lines of at most `width` characters. Continuation lines are indented. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = `  ${word}`;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
