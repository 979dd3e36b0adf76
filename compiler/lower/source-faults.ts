/** Checks the signature scheme of a source. */

import type { SecretForm, SignedSegment, SourceFile } from '../../schemas/generated/types.ts';
import type { Problem } from '../diagnostics/diagnostic.ts';

/** Templates and locators are parsed during lowering, by source.ts. */
export function checkSource(file: SourceFile, signed: readonly SignedSegment[]): readonly Problem[] {
  const faults = [...faultsOfSignature(file), ...faultsOfKey(file), ...faultsOfSigned(file, signed)];
  return faults.map(({ path, message, hint }) => ({
    rule: 'source-scheme',
    path,
    at: 'value',
    message,
    ...(hint === undefined ? {} : { hint }),
  }));
}

type Verify = SourceFile['verify'];

/** Key forms by primitive; the first is the default. */
export const KEY_FORMS: Readonly<Record<Verify, readonly SecretForm['as'][]>> = {
  'hmac-sha1': ['utf8', 'hex', 'base64'],
  'hmac-sha256': ['utf8', 'hex', 'base64'],
  'hmac-sha512': ['utf8', 'hex', 'base64'],
  ed25519: ['raw-hex', 'raw-base64', 'spki-base64'],
  'ecdsa-p256': ['spki-base64'],
  token: ['utf8', 'hex', 'base64'],
  basic: ['utf8'],
  none: ['utf8'],
};

interface Fault {
  readonly path: readonly string[];
  readonly message: string;
  readonly hint?: string;
}

function faultsOfSignature({ verify, signature }: SourceFile): readonly Fault[] {
  if (signature !== undefined || verify === 'none' || verify === 'basic') return [];
  return [{ path: [], message: '`signature` is missing: the location of the signature or token' }];
}

function faultsOfKey({ verify, secret }: SourceFile): readonly Fault[] {
  const allowed = KEY_FORMS[verify];
  if (secret?.as === undefined || allowed.includes(secret.as)) return [];
  const message = `\`${secret.as}\` is not a key form of \`${verify}\`: use ${allowed.join(', ')}`;
  return [{ path: ['secret', 'as'], message }];
}

/** Everything that the template names must be defined, and timestamp and id must be signed: unsigned, they protect nothing. */
function faultsOfSigned(file: SourceFile, signed: readonly SignedSegment[]): readonly Fault[] {
  if (file.verify === 'token' || file.verify === 'basic' || file.verify === 'none') {
    if (file.signed === undefined) return [];
    return [{ path: ['signed'], message: `\`${file.verify}\` signs nothing: remove \`signed\`` }];
  }
  const faults: Fault[] = [];
  const has = (kind: SignedSegment['kind']): boolean => signed.some((segment) => segment.kind === kind);
  const add = (path: readonly string[], message: string, hint?: string): void => {
    faults.push({ path, message, ...(hint === undefined ? {} : { hint }) });
  };
  const missing = (name: string): void =>
    add(['signed'], `\`signed\` contains {${name}}, but the source has no \`${name}\``);
  if (file.signed === undefined) add([], '`signed` is missing: the template of the signed bytes');
  else if (signed.every(({ kind }) => kind === 'text')) add(['signed'], 'no part of the request is signed');
  if (has('timestamp') && file.timestamp === undefined) missing('timestamp');
  if (has('id') && file.id === undefined) missing('id');
  if (file.id !== undefined && !has('id'))
    add(['id'], '`id` is not part of `signed`', 'Use `delivery` for an id that is not signed.');
  const inBody = file.timestamp?.json !== undefined && has('body');
  if (file.timestamp !== undefined && !has('timestamp') && !inBody)
    add(['timestamp'], 'the timestamp is not part of `signed`: anyone could replace the timestamp by a newer one');
  if (file.body_hash?.query !== undefined && !has('url'))
    add(['body_hash'], 'the digest is not signed: `signed` has no {url}');
  return faults;
}
