/** A trigger rule, taken apart: what authenticates the sender, what filters events, and what can be said in neither way. */
import type { NodePath } from '../../diagnostics/problem.ts';

export type Filter = Readonly<Record<string, unknown>>;

export type Primitive = 'hmac-sha1' | 'hmac-sha256' | 'hmac-sha512' | 'token';

/** Where a request carries a signature or token. */
export interface AuthPlace {
  readonly kind: 'header' | 'query' | 'json';
  readonly name: string;
}

/** One check of a secret. */
export interface Auth {
  readonly verify: Primitive;
  readonly place: AuthPlace;
  readonly secrets: readonly SecretText[];
}

export interface SecretText {
  readonly text: string;
  readonly path: NodePath;
}

/** A part of a rule that has no equivalent: without it the hook would take more than it did. */
export interface Gap {
  readonly path: NodePath;
  readonly reason: string;
  readonly instead: string;
}

/** All of it has to hold. */
export interface Condition {
  readonly auths: readonly Auth[];
  readonly filters: readonly Filter[];
  readonly gaps: readonly Gap[];
  /** Fields whose absence makes the original's rule an error, and so no match, even below `not`. */
  readonly fields: readonly string[];
}

export const ALWAYS: Condition = { auths: [], filters: [], gaps: [], fields: [] };

export const gap = (path: NodePath, reason: string, instead: string): Condition => ({
  ...ALWAYS,
  gaps: [{ path, reason, instead }],
});

export const sameScheme = (a: Auth, b: Auth): boolean =>
  a.verify === b.verify && a.place.kind === b.place.kind && a.place.name.toLowerCase() === b.place.name.toLowerCase();

export const sameAuth = (a: Auth, b: Auth): boolean =>
  sameScheme(a, b) &&
  a.secrets.length === b.secrets.length &&
  a.secrets.every(({ text }, at) => text === b.secrets[at]?.text);
