/** Lowers the requests of a target file: converts path, query, headers and body to segments. */
import type { BodyPlan, NamedTemplate, RequestPlan, TargetRequest } from '../../../schemas/generated/types.ts';
import type { TextPlace } from '../../config/target-scope.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { targetHeader } from '../../rules/target-header.ts';
import { targetPath } from '../../rules/target-path.ts';
import { targetRequest } from '../../rules/target-request.ts';
import { lowerBody } from './body.ts';
import type { TargetScope } from './scope.ts';
import { groupNames, lowerPattern } from './scope.ts';
import { lowerText } from './value-template.ts';

/** Scopes for the parts of a request. Token and check requests may use only settings. */
interface Places {
  readonly header: TextPlace;
  readonly path: TextPlace;
  readonly content: TextPlace;
}
const DELIVERY: Places = { header: 'header', path: 'path', content: 'content' };
const EXCHANGE: Places = { header: 'exchange', path: 'exchange', content: 'exchange' };

export function lowerRequest(request: TargetRequest, path: NodePath, scope: TargetScope): RequestPlan {
  return lower(request, path, { scope, places: DELIVERY });
}

/** Lowers a request that uses only the credentials: it exchanges them for a token, or checks them. */
export function lowerExchangeRequest(request: TargetRequest, path: NodePath, scope: TargetScope): RequestPlan {
  return lower(request, path, { scope, places: EXCHANGE });
}

interface Context {
  readonly scope: TargetScope;
  readonly places: Places;
}

function lower(request: TargetRequest, path: NodePath, { scope: outer, places }: Context): RequestPlan {
  const chatId = request.when?.chat_id;
  const scope = { ...outer, groups: chatId === undefined ? [] : groupNames(chatId) };
  const named = (texts: TargetRequest['query'], key: string, at: TextPlace): NamedTemplate[] =>
    Object.entries(texts ?? {}).map(([name, value]) => ({
      name,
      value: lowerText(String(value), { at, path: [...path, key, name] }, scope),
    }));
  targetRequest.check(request, path, places === EXCHANGE).forEach(scope.report);
  targetPath.check(request.path, [...path, 'path']).forEach(scope.report);
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
    targetHeader.check(name, [...path, 'headers', name]).forEach(scope.report);
    return { name: name.toLowerCase(), value };
  });
}

function lowerRequestBody(request: TargetRequest, path: NodePath, { scope, places }: Context): BodyPlan {
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
