/** The public exports of the package, with the declaration, the doc comment and the examples of each. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeBlocks } from './markdown.ts';
import { ROOT } from './root.ts';

const ENTRIES = ['main/hookwright.ts', 'main/compiler.ts', 'main/runtime.ts'];

export interface ApiExport {
  readonly name: string;
  /** Path of the file that declares it. */
  readonly file: string;
  /** 1-based line of the declaration. */
  readonly line: number;
  /** The declaration and what follows it in its file. */
  readonly source: string;
  /** Markdown; empty when there is no comment. */
  readonly comment: string;
  /** Lines of the file up to the comment. */
  readonly commentStart: number;
}

export interface ApiExample {
  readonly name: string;
  /** `file:line` of its first line. */
  readonly at: string;
  readonly code: string;
}

/** The values and types that `hookwright`, `hookwright/compiler` and `hookwright/runtime` export, each once. */
export function apiExports(): readonly ApiExport[] {
  const all = ENTRIES.flatMap(exportsOf);
  return [...new Map(all.map((each) => [`${each.file} ${each.name}`, each])).values()];
}

function exportsOf(file: string): readonly ApiExport[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const own = [...text.matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm)];
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]+)\} from '([^']+)'/gm)];
  const whole = [...text.matchAll(/^export \* from '([^']+)'/gm)];
  return [
    ...own.map(([, name = '']) => declarationOf(name, file)),
    ...listed.flatMap(([, names = '', from = '']) =>
      namesOf(names).map((name) => declarationOf(name, join(dirname(file), from))),
    ),
    ...whole.flatMap(([, from = '']) => exportsOf(join(dirname(file), from))),
  ];
}

const namesOf = (list: string): readonly string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** Follows imports, because a file may export again what it imports. */
function declarationOf(name: string, file: string): ApiExport {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const declared = new RegExp(`^export (?:async )?(?:function|const|class|interface|type) ${name}\\b`, 'm').exec(text);
  if (declared === null) {
    const imported = new RegExp(`^import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '([^']+)'`, 'm').exec(text);
    if (imported === null) throw new Error(`${file} does not declare ${name}`);
    return declarationOf(name, join(dirname(file), imported[1] ?? ''));
  }
  const before = text.slice(0, declared.index);
  const start = before.endsWith('*/\n') ? before.lastIndexOf('/**') : before.length;
  return {
    ...{ name, file, line: lineAt(text, declared.index), source: text.slice(declared.index) },
    comment: before.slice(start).replace(/^ *(?:\/\*\*|\*\/| \*) ?/gm, ''),
    commentStart: lineAt(text, start) - 1,
  };
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** The code blocks after `@example`. */
export function examplesOf({ name, file, comment, commentStart }: ApiExport): readonly ApiExample[] {
  const start = comment.indexOf('@example');
  if (start < 0) return [];
  const above = commentStart + lineAt(comment, start);
  return codeBlocks(comment.slice(start)).map(({ line, text }) => ({
    ...{ name, at: `${file}:${above + line}`, code: text },
  }));
}

/** The names of the parameters of a function, or of a type of functions; empty for all other declarations. */
export function parametersOf({ source }: ApiExport): readonly string[] {
  const head = /^export (?:(?:async )?function \w+\(|(?:type|const) \w+(?:: \w+)? = (?:async )?\()/.exec(source);
  if (head === null) return [];
  const names: string[] = [];
  let depth = 1;
  let name = '';
  for (const character of source.slice(head[0].length).replaceAll('=>', '')) {
    if (')]}>'.includes(character)) depth -= 1;
    if (depth === 0) break;
    if (depth === 1 && character === ',') name = '';
    else if (depth === 1 && /[:=]/.test(character) && name !== '-') {
      names.push(name.replace(/[\s?]/g, ''));
      name = '-';
    } else if (depth === 1 && name !== '-') name += character;
    if ('([{<'.includes(character)) depth += 1;
  }
  return names;
}

/** The members of an interface without their own comment. */
export function uncommentedMembers({ source }: ApiExport): readonly string[] {
  if (!source.startsWith('export interface')) return [];
  const lines = source.slice(0, source.indexOf('\n}')).split('\n');
  return lines.flatMap((line, at) => {
    const member = /^ {2}(?:readonly )?(\w+)[?(:<]/.exec(line)?.[1];
    return member === undefined || lines[at - 1]?.endsWith('*/') ? [] : [member];
  });
}
