/** A trigger rule, split into authentication, event filters, and conditions that hookwright cannot express. */
import type { NodePath } from '../../../../compiler/diagnostics/problem.ts';

export type TriggerFilter = Readonly<Record<string, unknown>>;

export type TriggerPrimitive = 'hmac-sha1' | 'hmac-sha256' | 'hmac-sha512' | 'token';

/** The place of a signature or token in a request. */
export interface AuthPlace {
  readonly kind: 'header' | 'query' | 'json';
  readonly name: string;
}

/** One check of a secret. */
export interface Auth {
  readonly verify: TriggerPrimitive;
  readonly place: AuthPlace;
  readonly secrets: readonly TriggerSecret[];
}

export interface TriggerSecret {
  readonly text: string;
  readonly path: NodePath;
}

/** A part of a rule without an equivalent. Dropping it would let the hook accept more requests than before. */
export interface Gap {
  readonly path: NodePath;
  readonly reason: string;
  readonly instead: string;
}

/** Matches if all parts match. */
export interface TriggerCondition {
  readonly auths: readonly Auth[];
  readonly filters: readonly TriggerFilter[];
  readonly gaps: readonly Gap[];
  /** Fields that the original requires: if one is missing, its rule fails with an error and does not match, even inside `not`. */
  readonly fields: readonly string[];
}

export const ALWAYS: TriggerCondition = { auths: [], filters: [], gaps: [], fields: [] };

export const gap = (path: NodePath, reason: string, instead: string): TriggerCondition => ({
  ...ALWAYS,
  gaps: [{ path, reason, instead }],
});

export const sameScheme = (a: Auth, b: Auth): boolean =>
  a.verify === b.verify && a.place.kind === b.place.kind && a.place.name.toLowerCase() === b.place.name.toLowerCase();

export const sameAuth = (a: Auth, b: Auth): boolean =>
  sameScheme(a, b) &&
  a.secrets.length === b.secrets.length &&
  a.secrets.every(({ text }, at) => text === b.secrets[at]?.text);
