/** The parts of a request that no command, log or file may show, for the canary tests. */
import { placesOf } from '../../modules/workbench/runtime/capture/record.ts';
import { LazyRequest, readValue, splitParts } from '../../runtime/verify/request.ts';
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { Vector } from './vectors.ts';
import { vectorRequest } from './vectors.ts';

/** Shorter texts are ordinary words. */
const LEAST = 8;

/** Everything that would allow someone else to send this request, or another one. */
export function credentialsOf(vector: Vector, scheme: SchemePlan): string[] {
  const request = new LazyRequest(vectorRequest(vector));
  const found = placesOf(scheme).flatMap(([at]) => {
    const text = String(readValue(at, request) ?? '');
    const parts = splitParts(at, text);
    return [text, ...(typeof parts === 'string' ? [] : parts)];
  });
  const isToken = scheme.verify === 'token' || scheme.verify === 'basic';
  return [...found, ...(isToken ? [vector.secret] : [])].filter((text) => text.length >= LEAST);
}

/** Sets the content type of the body if the vector has none. */
export function vectorHeaders({ headers, body }: Vector): Headers {
  const all = new Headers({ ...headers });
  const type = /^\s*[{[]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded';
  if (!all.has('content-type')) all.set('content-type', type);
  return all;
}
