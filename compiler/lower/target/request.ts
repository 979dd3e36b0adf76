/** Lowers the requests of a target file: path, query, headers and body become segments. */
import type { BodyPlan, NamedTemplate, RequestPlan, TargetRequest } from '../../../schemas/generated/types.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { targetHeader } from '../../rules/target-header.ts';
import { targetPath } from '../../rules/target-path.ts';
import { targetRequest } from '../../rules/target-request.ts';
import { lowerBody } from './body.ts';
import type { TargetScope } from './scope.ts';
import { groupNames, lowerPattern, reportValue } from './scope.ts';
import type { Place } from './value-template.ts';
import { lowerText } from './value-template.ts';

/** Headers that are ours to write: a target that set them would break the request or its framing. */
const OWN_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'expect']);
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;

/** Where the parts of a request stand; those of a token request are closed to all but settings. */
interface Places {
  readonly header: Place;
  readonly path: Place;
  readonly content: Place;
}
const DELIVERY: Places = { header: 'header', path: 'path', content: 'content' };
const EXCHANGE: Places = { header: 'exchange', path: 'exchange', content: 'exchange' };

export function lowerRequest(request: TargetRequest, path: NodePath, scope: TargetScope): RequestPlan {
  return lower(request, path, { scope, places: DELIVERY });
}

/** The request that exchanges credentials for a token. */
export function lowerExchangeRequest(request: TargetRequest, path: NodePath, scope: TargetScope): RequestPlan {
  if (request.when !== undefined) {
    reportValue(scope, targetRequest, [...path, 'when'], 'a token request is the same for every address');
  }
  return lower(request, path, { scope, places: EXCHANGE });
}

interface Context {
  readonly scope: TargetScope;
  readonly places: Places;
}

function lower(request: TargetRequest, path: NodePath, { scope: outer, places }: Context): RequestPlan {
  const chatId = request.when?.chat_id;
  const scope = { ...outer, groups: chatId === undefined ? [] : groupNames(chatId) };
  const named = (texts: TargetRequest['query'], key: string, at: Place): NamedTemplate[] =>
    Object.entries(texts ?? {}).map(([name, value]) => ({
      name,
      value: lowerText(String(value), { at, path: [...path, key, name] }, scope),
    }));
  if (request.path !== '' && !request.path.startsWith('/')) {
    reportValue(scope, targetPath, [...path, 'path'], 'a path starts with /');
  }
  if (/[?#\s]/.test(request.path.replace(/\{[^}]*\}/g, ''))) {
    reportValue(scope, targetPath, [...path, 'path'], 'a path has no ?, # or blank: parameters belong in `query`');
  }
  const basic = request.basic;
  return {
    chat_id: chatId === undefined ? null : lowerPattern(chatId, [...path, 'when', 'chat_id'], scope),
    thread: request.when?.thread ?? null,
    method: request.method ?? 'POST',
    path: lowerText(request.path, { at: places.path, path: [...path, 'path'] }, scope),
    query: named(request.query, 'query', places.content),
    headers: lowerHeaders(named(request.headers, 'headers', places.header), path, scope),
    basic:
      basic === undefined
        ? null
        : {
            user: lowerText(basic.user, { at: 'basic', path: [...path, 'basic', 'user'] }, scope),
            password: lowerText(basic.password, { at: 'basic', path: [...path, 'basic', 'password'] }, scope),
          },
    body: lowerRequestBody(request, path, { scope, places }),
  };
}

function lowerHeaders(headers: readonly NamedTemplate[], path: NodePath, scope: TargetScope): NamedTemplate[] {
  return headers.map(({ name, value }) => {
    const lowerCase = name.toLowerCase();
    const at = [...path, 'headers', name];
    if (!HEADER_NAME.test(lowerCase)) {
      scope.report({
        rule: targetHeader,
        path: at,
        at: 'key',
        message: `${JSON.stringify(name)} is no header name`,
      });
    } else if (OWN_HEADERS.has(lowerCase)) {
      const message = `\`${lowerCase}\` is set by the executor and cannot be named here`;
      scope.report({ rule: targetHeader, path: at, at: 'key', message });
    }
    return { name: lowerCase, value };
  });
}

function lowerRequestBody(request: TargetRequest, path: NodePath, { scope, places }: Context): BodyPlan {
  const present = (['json', 'form', 'plain'] as const).filter((kind) => request[kind] !== undefined);
  if (present.length > 1) {
    const message = `one body, not ${present.join(' and ')}`;
    reportValue(scope, targetRequest, [...path, present[1] ?? ''], message);
  }
  if (present.length > 0 && request.method === 'GET') {
    reportValue(scope, targetRequest, [...path, present[0] ?? ''], 'a GET request has no body');
  }
  const at = places.content;
  if (request.json !== undefined) {
    return { kind: 'json', node: lowerBody(request.json, { at, path: [...path, 'json'] }, scope) };
  }
  if (request.form !== undefined) {
    const fields = Object.entries(request.form).map(([name, value]) => ({
      name,
      value: lowerText(String(value), { at, path: [...path, 'form', name] }, scope),
    }));
    return { kind: 'form', fields };
  }
  if (request.plain !== undefined) {
    return { kind: 'plain', value: lowerText(request.plain, { at, path: [...path, 'plain'] }, scope) };
  }
  return { kind: 'none' };
}
