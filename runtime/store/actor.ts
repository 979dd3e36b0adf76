/** Who makes a change: one text for records, logs and people, such as `console:ann`, `cli:root` or `slack:U123 (Ann)`. */
import { printableStart } from '../platform/log.ts';
import type { Mutation, Store } from './contract.ts';
import { wrapStore } from './contract.ts';

/** Longest name of a person, in UTF-16 units. */
const MOST_NAME = 100;

/** @param via where the person acts @param name as it is known there, untrusted; null: people have no names there */
export const actor = (via: string, name: string | null): string =>
  printableStart(name === null ? via : `${via}:${name}`, MOST_NAME);

/** A store whose changes name the person who makes them. @param by from `actor`; undefined: nobody is known */
export const storeAs = (store: Store, by: string | undefined): Store =>
  by === undefined ? store : wrapStore(store, { write: (mutation, as) => store.write(signed(mutation, by), as) });

function signed<M extends Mutation>(mutation: M, by: string): M {
  const named = { ...mutation, by };
  if (mutation.kind === 'put_job') return { ...named, job: { ...mutation.job, by } };
  if (mutation.kind === 'accept' || mutation.kind === 'fire_job')
    return { ...named, dispatch: { ...mutation.dispatch, by } };
  return named;
}
