/** Lowers the requests of a target file: path, query, headers and body become segments and typed trees. */
import type {
  BodyNode,
  BodyPlan,
  NamedTemplate,
  RequestPlan,
  TargetRequest,
  TextNode,
  ValueTemplate,
} from '../../schemas/generated/types.ts';
import type { TextPlace } from '../config/target-entries.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import type { TargetScope } from './target-text.ts';
import { groupNames, lowerPattern, lowerText } from './target-text.ts';

/** Scopes for the parts of a request. Token and check requests may use only settings. */
interface Places {
  readonly header: TextPlace;
  readonly path: TextPlace;
  readonly content: TextPlace;
}
const DELIVERY: Places = { header: 'header', path: 'path', content: 'content' };
const EXCHANGE: Places = { header: 'exchange', path: 'exchange', content: 'exchange' };
/** Lowers the requests of a target file: converts path, query, headers and body to segments. */
export const INSTALLATION: Places = { header: 'exchange', path: 'installation', content: 'installation' };

/** A scope, and the kinds of places of one request's texts. */
interface RequestScope extends TargetScope {
  readonly places: Places;
}

/** Lowers a request that uses only the credentials: it exchanges them for a token, or checks them. */
export const lowerExchangeRequest = (request: TargetRequest, path: NodePath, scope: TargetScope): RequestPlan =>
  lowerRequest(request, path, scope, EXCHANGE);

export function lowerRequest(
  request: TargetRequest,
  path: NodePath,
  outer: TargetScope,
  places: Places = DELIVERY,
): RequestPlan {
  const chatId = request.when?.chat_id;
  const scope: RequestScope = { ...outer, places, groups: [...outer.groups, ...groupNames(chatId ?? '')] };
  const named = (texts: Texts, key: string, at: TextPlace): NamedTemplate[] =>
    lowerTexts(texts, { at, path: [...path, key] }, scope);
  checkRequest(request, path, scope);
  checkPath(request.path, [...path, 'path'], scope);
  const basic = request.basic;
  return {
    chat_id: chatId === undefined ? null : lowerPattern(chatId, [...path, 'when', 'chat_id'], scope),
    thread: request.when?.thread ?? null,
    ...(request.when?.given === undefined ? {} : { given: request.when.given }),
    method: request.method ?? 'POST',
    path: lowerText(request.path, { at: places.path, path: [...path, 'path'] }, scope),
    query: named(request.query, 'query', places.content),
    headers: lowerHeaders(named(headersOf(request, scope), 'headers', places.header), path, scope),
    basic:
      basic === undefined
        ? null
        : {
            user: lowerText(basic.user, { at: 'basic', path: [...path, 'basic', 'user'] }, scope),
            password: lowerText(basic.password, { at: 'basic', path: [...path, 'basic', 'password'] }, scope),
          },
    body: lowerRequestBody(request, path, scope),
  };
}

type Texts = TargetRequest['query'];

const lowerTexts = (
  texts: Texts,
  { at, path }: { readonly at: TextPlace; readonly path: NodePath },
  scope: TargetScope,
): NamedTemplate[] =>
  Object.entries(texts ?? {}).map(([name, value]) => ({
    name,
    value: lowerText(String(value), { at, path: [...path, name] }, scope),
  }));

/** Names are compared case-sensitively: they are from one file. */
const headersOf = ({ headers }: TargetRequest, scope: TargetScope): Texts => ({ ...scope.headers, ...headers });

/** Headers that the executor sets: setting them in a target would break the request's framing. */
const OWN_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'expect']);
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;

function lowerHeaders(headers: readonly NamedTemplate[], path: NodePath, scope: TargetScope): NamedTemplate[] {
  return headers.map(({ name, value }) => {
    const lowerCase = name.toLowerCase();
    const message = headerProblem(lowerCase);
    if (message !== null) scope.report({ rule: 'target-header', path: [...path, 'headers', name], at: 'key', message });
    return { name: lowerCase, value };
  });
}

/** Why a request cannot have this header; null: it can. @param name in lower case */
export function headerProblem(name: string): string | null {
  if (!HEADER_NAME.test(name)) return `${JSON.stringify(name)} is not a header name`;
  return OWN_HEADERS.has(name) ? `\`${name}\` is set by hookwright and not allowed here` : null;
}

const BODIES = ['json', 'form', 'plain'] as const;

function checkRequest(request: TargetRequest, path: NodePath, scope: RequestScope): void {
  const report = (key: string, message: string): void =>
    scope.report({ rule: 'target-request', path: [...path, key], at: 'value', message });
  const [body, ...others] = BODIES.filter((kind) => request[kind] !== undefined);
  if (scope.places === EXCHANGE && request.when !== undefined)
    report('when', 'a token or check request is the same for every address');
  if (others[0] !== undefined) report(others[0], `only one body is allowed, not ${[body, ...others].join(' and ')}`);
  if (body !== undefined && request.method === 'GET') report(body, 'a GET request must not have a body');
}

function checkPath(text: string, path: NodePath, scope: TargetScope): void {
  const at = { rule: 'target-path', path, at: 'value' } as const;
  if (text !== '' && !text.startsWith('/')) scope.report({ ...at, message: 'a path must start with /' });
  if (/[?#\s]/.test(text.replace(/\{[^}]*\}/g, '')))
    scope.report({ ...at, message: 'a path must not contain ?, # or spaces: parameters belong in `query`' });
}

function lowerRequestBody(request: TargetRequest, path: NodePath, scope: RequestScope): BodyPlan {
  const at = scope.places.content;
  if (request.json !== undefined) {
    return { kind: 'json', node: lowerBody(request.json, { at, path: [...path, 'json'] }, scope) };
  }
  if (request.form !== undefined) {
    return { kind: 'form', fields: lowerTexts(request.form, { at, path: [...path, 'form'] }, scope) };
  }
  if (request.plain !== undefined) {
    return { kind: 'plain', value: lowerText(request.plain, { at, path: [...path, 'plain'] }, scope) };
  }
  return { kind: 'none' };
}

/** `$` nodes that contain a text and a conversion. */
const CASTS: Readonly<Record<string, TextNode['cast']>> = { $int: 'int', $auto: 'auto', $list: 'list' };

interface At {
  readonly at: TextPlace;
  readonly path: NodePath;
}

/** Lowers the JSON body of a target's request, written as plain YAML with `$` nodes, to a typed tree. */
function lowerBody(value: unknown, place: At, scope: TargetScope): BodyNode {
  if (typeof value === 'string') return lowerString(value, place, scope);
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return { kind: 'literal', value };
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => lowerBody(item, below(place, index), scope));
    return { kind: 'array', items };
  }
  return lowerObject(Object.entries(value as Record<string, unknown>), place, scope);
}

function lowerString(text: string, place: At, scope: TargetScope): BodyNode {
  const segments = lowerText(text, place, scope);
  const plain = segments.every((segment) => segment.kind === 'text');
  return plain ? { kind: 'literal', value: text } : { kind: 'text', value: segments, cast: 'string' };
}

function lowerObject(entries: readonly (readonly [string, unknown])[], place: At, scope: TargetScope): BodyNode {
  const [first] = entries;
  if (entries.length === 1 && first !== undefined) {
    const [name, value] = first;
    const cast = Object.hasOwn(CASTS, name) ? CASTS[name] : undefined;
    if (cast !== undefined) return { kind: 'text', value: lowerText(String(value), below(place, name), scope), cast };
    if (name === '$json') return { kind: 'json', node: lowerBody(value, below(place, name), scope) };
  }
  const when = entries.find(([name]) => name === '$when');
  const fields = entries
    .filter(([name]) => name !== '$when')
    .map(([name, value]) => {
      if (name.startsWith('$')) {
        const message = `\`${name}\` is not an instruction; the instructions are $int, $auto, $list and $json, each alone in its object, and $when next to fields`;
        scope.report({ rule: 'target-body', path: [...place.path, name], at: 'value', message });
      }
      return { name, node: lowerBody(value, below(place, name), scope) };
    });
  return { kind: 'object', when: when === undefined ? null : lowerWhen(String(when[1]), place, scope), fields };
}

/** Values in `$when` are optional, because it tests whether they are empty. */
function lowerWhen(text: string, place: At, scope: TargetScope): ValueTemplate {
  const segments = lowerText(text, below(place, '$when'), scope);
  return segments.map((segment) => (segment.kind === 'value' ? { ...segment, optional: true } : segment));
}

function below(place: At, key: string | number): At {
  return { at: place.at, path: [...place.path, key] };
}
