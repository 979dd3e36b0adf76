/** Lowers templates to segments: prompts, delivery addresses and coalesce keys (§2.5, §2.3). */

import { PART, PATH, parsePath } from '../../base/paths.ts';
import type { MetaSegment, PathSegment, TemplatePlan, TemplateSegment } from '../../schemas/generated/types.ts';
import type { Token } from '../config/grammar.ts';
import { EMPTY_PLACEHOLDER, placeholder, readTokens, segments } from '../config/grammar.ts';
import { isEventGlob } from '../config/route-keys.ts';
import type { Lowered, Problem } from '../diagnostics/diagnostic.ts';
import type { RouteView } from '../views/views.ts';
import { askAboutField } from './filter.ts';

/** Lowers one template. The `within` of each problem is the placeholder. */
export function lowerTemplate(text: string): Lowered<TemplatePlan> {
  const errors = [...checkBlocks(text), ...checkSyntax(text)];
  const warnings = [...askAboutBraces(text, errors), ...headerProblems(text)];
  return { plan: errors.length > 0 ? null : segments(text), problems: [...errors, ...warnings] };
}

/** Other braces may be spellings of other tools, which a tutor knows. Errors are already explained. */
function askAboutBraces(text: string, errors: readonly Problem[]): readonly Problem[] {
  const left = errors.reduce((rest, { within }) => (within === undefined ? rest : blank(rest, within)), text);
  // Elements of a block with an error have no meaning.
  const ask =
    errors.length > 0 && text.includes('{#each') ? left.replace(ELEMENT, (part) => ' '.repeat(part.length)) : left;
  if (ask.split('{').length - 1 === readTokens(ask).length && !OTHER_SIGNS.test(ask)) return [];
  return [{ rule: 'template-braces', path: [], at: 'value', message: '', ask }];
}

const ELEMENT = /\{(?:\.|@index|@root[.[][^{}\n]*)\}/g;
/** Placeholders of other tools that have no braces, or a sign before them. */
const OTHER_SIGNS = /[$%]\{|<%|<<|\[\[|\(\(|%\(/;

const blank = (text: string, { offset, length }: Span): string =>
  text.slice(0, offset) + ' '.repeat(length) + text.slice(offset + length);

const HEADER = new RegExp(`\\{headers(?:\\.|(?=\\[))${PATH}\\}`, 'g');

const headerProblems = (text: string): readonly Problem[] =>
  [...text.matchAll(HEADER)].map(({ 0: written, index }) => ({
    rule: 'template-headers',
    path: [],
    at: 'value',
    message: `${written} never resolves: only filters can use headers`,
    within: { offset: index, length: written.length },
  }));

/** Lowers a coalesce key: a bare dotted field, or a template with at least one placeholder. */
export function lowerCoalesceKey(text: string): Lowered<TemplatePlan> {
  if (parsePath(text) !== null) {
    const headers = headerProblems(`{${text}}`).map(({ within: _, ...problem }) => problem);
    return { plan: [placeholder(text)], problems: headers.length > 0 ? headers : askAboutField(text, []) };
  }
  const lowered = lowerTemplate(text);
  const kinds = lowered.plan?.map(({ kind }) => kind) ?? [];
  const isComplete = kinds.some((kind) => kind !== 'text') && !EMPTY_PLACEHOLDER.test(text);
  if (lowered.plan === null || (isComplete && !kinds.includes('each'))) return lowered;
  const message = kinds.includes('each')
    ? `the key ${JSON.stringify(text)} has a list, but a key joins single values; write the placeholders of fields`
    : `the key ${JSON.stringify(text)} needs at least one placeholder, and no empty one; ` +
      'write a dotted field (pull_request.number) or a template ({repository.full_name}#{number})';
  return { plan: null, problems: [...lowered.problems, { rule: 'coalesce-key', path: [], at: 'value', message }] };
}

/** The default template of an event in the list of a burst. */
export const compactPayload: TemplatePlan = [{ kind: 'dump', compact: true }];

/** The default prompt: the event type, and the whole payload in a code fence. */
export const defaultPrompt: TemplatePlan = [
  { kind: 'text', text: "Webhook event '" },
  { kind: 'meta', name: 'event_type' },
  { kind: 'text', text: "' on route '" },
  { kind: 'meta', name: 'route' },
  { kind: 'text', text: "':\n\n```json\n" },
  { kind: 'dump' },
  { kind: 'text', text: '\n```' },
];

/** Blocks in blocks, at most. */
const MAX_DEPTH = 8;

type Span = Pick<Token, 'offset' | 'length'>;

/** The tutor, which sees the whole text, knows what to write instead. */
const syntaxProblem = (text: string, { offset, length }: Span, what: string): Problem => ({
  rule: 'template-syntax',
  path: [],
  at: 'value',
  within: { offset, length },
  message: `${text.slice(offset, offset + length)} ${what}`,
  ask: text,
});

/** The start of a block, whether it names a list or not. */
const OPENING = /\{#each\b[^{}\n]*\}?/g;

/** A block without an end, an end without a block, or a block that names no list. */
function checkBlocks(text: string): readonly Problem[] {
  const problems: Problem[] = [];
  const open: (Span & { readonly segment: unknown })[] = [];
  const report = (token: Span, what: string): number => problems.push(syntaxProblem(text, token, what));
  const tokens = readTokens(text);
  const known = new Set(tokens.map(({ offset }) => offset));
  const misspelt = [...text.matchAll(OPENING)]
    .filter(({ index }) => !known.has(index))
    .map(({ 0: written, index }) => ({ offset: index, length: written.length, segment: undefined, depth: 0 }));
  for (const token of [...tokens, ...misspelt].toSorted((a, b) => a.offset - b.offset)) {
    const { segment, depth } = token;
    if (segment === undefined) report(token, 'names no list; write {#each path}, with the path of a list');
    if (segment === undefined || segment?.kind === 'each') open.push(token);
    else if (segment === null && open.pop() === undefined) report(token, 'ends no block; write {#each path} before it');
    if (segment?.kind === 'each' && depth === MAX_DEPTH) report(token, `is more than ${MAX_DEPTH} blocks deep`);
  }
  for (const token of open.filter(({ segment }) => segment !== undefined))
    report(token, 'is not closed; write {/each} where the repeated text ends');
  return problems;
}

/** A malformed placeholder. */
function checkSyntax(text: string): readonly Problem[] {
  return [
    ...loneBrace(text),
    ...[...text.matchAll(BRACED)].flatMap((match): readonly Problem[] => {
      const [braced, inside = '', close] = match;
      const slip = SLIPS.find((one) => one.closed === (close === '}') && one.inside.test(inside));
      if (slip === undefined || (slip.closed && parsePath(inside) !== null)) return [];
      const before = slip.closed && text[match.index + braced.length] === '}' ? outerBraces(text, match.index) : '';
      const { length } = slip.closed ? braced : `{${/^\S+/.exec(inside)?.[0] ?? ''}`;
      const around = before === '' ? 0 : before.length + 1;
      return [syntaxProblem(text, { offset: match.index - before.length, length: length + around }, slip.what)];
    }),
  ];
}

/** `{name` or `name}` in a text without another brace. */
const NOT_CLOSED = /^[^{}]*(\{[A-Za-z_]\w*)[.,;:!?)]*(?:\s[^{}]*)?$/d;
const NOT_OPENED = /^(?:[^{}]*[\s(#])?([A-Za-z_][\w.]*\})[^{}]*$/d;

/** Code has braces in pairs, so a single one in a text is half of a placeholder. */
function loneBrace(text: string): readonly Problem[] {
  const [, span] = (NOT_CLOSED.exec(text) ?? NOT_OPENED.exec(text))?.indices ?? [];
  if (span === undefined) return [];
  const [offset, end] = span;
  return [
    syntaxProblem(text, { offset, length: end - offset }, text[offset] === '{' ? 'is not closed' : 'is not opened'),
  ];
}

/** The rest of a path of two parts or more, after its first letter. */
const DOTTED = `[A-Za-z0-9_-]*(?:\\.${PART})+`;

/** Text from `{` to the next brace or line end, including a `}`. */
const BRACED = /\{([^{}\n]*)(\}?)/g;

/**
 * Mistakes that cannot be prose, JSON or code in a prompt: each contains a dotted path and would otherwise be delivered
 * literally. `inside` matches the text after the brace. Shell ranges (`{1..5}`), spreads and ellipses (`{...}`) do not match.
 */
const SLIPS: readonly { readonly closed: boolean; readonly inside: RegExp; readonly what: string }[] = [
  {
    closed: true,
    inside: /^(?!\.{3}|\d+\.\.\d+$)(?=\.|[^.]*\.(?:[^.]+\.)*(?:\.|$))(?=[.-]*\w)[\w.-]+$/,
    what: 'has an empty part',
  },
  {
    closed: true,
    inside: /^[A-Za-z_][A-Za-z0-9_.-]*\[(?:\d+|"[^"\]]*"|'[^'\]]*')\][\w.[\]"'-]*$/,
    what: 'has brackets around a key without double quotes',
  },
  { closed: true, inside: new RegExp(`^(?=\\s|.*\\s$)\\s*[A-Za-z]${DOTTED}\\s*$`), what: 'has spaces inside' },
  { closed: true, inside: /^\s*\$(?:json)?[.[][\w.[\]"'-]+\s*$/, what: 'begins with `$`' },
  { closed: false, inside: new RegExp(`^[A-Za-z]${DOTTED}(?:\\s|$)`), what: 'is not closed' },
];

/** The text before the inner braces of `{{ … }}`, `${{ … }}` and, at the start of a text, n8n's `={{ … }}`. */
const outerBraces = (text: string, at: number): string =>
  /(?:\$|^=)?\{$/.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? '';

/** Returns the prompt unchanged unless the route has `untrusted: mark`. */
export function markUntrusted(route: RouteView, prompt: TemplatePlan): TemplatePlan {
  const marked = markSegments(route, prompt);
  return marked === prompt ? prompt : [{ kind: 'notice' }, ...marked];
}

/** The same without the notice, for a template whose text becomes part of a prompt. */
export function markSegments(route: RouteView, template: TemplatePlan, element: readonly string[] = []): TemplatePlan {
  const { config, mode, scope } = route;
  const isMarking = (config.untrusted ?? scope.table.gateway.untrusted) === 'mark';
  // Messages that are delivered without an agent are for people and contain no markers.
  if (!isMarking || mode === 'direct' || mode === 'message') return template;
  const marked = template.map((segment): TemplateSegment => {
    const full = 'path' in segment ? [...(segment.from === 'root' ? [] : element), ...segment.path] : [];
    if (segment.kind === 'each') {
      const plan = markSegments(route, segment.plan, [...full, '0']);
      return plan === segment.plan ? segment : { ...segment, plan };
    }
    return takesMarkers(segment, route, full) ? { ...segment, marked: true as const } : segment;
  });
  return marked.every((segment, index) => segment === template[index]) ? template : marked;
}

type Markable = Extract<TemplateSegment, { marked?: true }>;

/** @param full the path of a value from the payload; `0` stands for the element of each block */
function takesMarkers(segment: TemplateSegment, route: RouteView, full: readonly string[]): segment is Markable {
  switch (segment.kind) {
    case 'text':
    case 'notice':
    case 'index':
    case 'each':
      return false;
    case 'dump':
    // Its lines have markers.
    case 'events':
      return true;
    case 'meta':
      return isSent(segment.name, route);
    case 'path':
      return segment.path.length + (segment.from === undefined ? 0 : 1) > 0 && isUntrustedPath(segment, route, full);
  }
}

/** A payload value overrides the built-in one of that name, so either makes the placeholder untrusted. */
function isUntrustedPath({ builtin }: PathSegment, route: RouteView, path: readonly string[]): boolean {
  if (builtin !== null && isSent(builtin, route)) return true;
  // Without knowledge of payloads, every value may be untrusted.
  return route.scope.payloads?.isUntrusted(route, path) ?? true;
}

/**
 * Whether the sender controls a built-in value. The event type may come from an unsigned header, but is one of the names in
 * `events` if these are exact. The delivery id always comes from the sender.
 */
function isSent(name: MetaSegment['name'], { config: { events = [] } }: RouteView): boolean {
  if (name === 'event_type') return events.length === 0 || events.some(isEventGlob);
  return name === 'delivery_id';
}
