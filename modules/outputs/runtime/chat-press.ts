/** A chat with buttons, and what a press of one of its buttons says. Which fields say it is data of the target. */
import { DEFAULT_PROFILE } from '../../../base/names.ts';
import { linkReader } from '../../../runtime/deliver/http/classify-response.ts';
import { linkVariant } from '../../../runtime/deliver/http/link-variant.ts';
import type { Values } from '../../../runtime/deliver/http/values.ts';
import { NO_VALUES } from '../../../runtime/deliver/http/values.ts';
import type { ApprovingContext } from '../../../runtime/dispatch/context.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import { actor } from '../../../runtime/store/actor.ts';

/** A target whose buttons are on; null: they are not. */
export function openButtonChat({ table, deliverer }: ApprovingContext, target: string) {
  const route = table().callbacks?.[target];
  const bound = route === undefined ? null : deliverer.bound(DEFAULT_PROFILE, target);
  const variant = bound === null ? '' : linkVariant(bound);
  if (route === undefined || bound === null || typeof variant === 'string') return null;
  const { buttons } = variant.plan;
  const name = bound.binding.label ?? target;
  return buttons === undefined ? null : { name, path: route.name, bound, variant, buttons };
}

export type ButtonChat = NonNullable<ReturnType<typeof openButtonChat>>;

const BUTTON = /^([ar]):([a-z0-9-]{1,100})$/;
const PERSON = /^[A-Za-z0-9_-]{1,64}$/;
/** All but letters, digits and a few marks: a name is shown to others, and must be neither markup nor a mention. */
const UNSAFE = /[^\p{L}\p{M}\p{N} .'-]/gu;
const MOST_NAME = 60;
/** Fields that requests and answers contain. */
const VALUES = ['chat', 'message', 'person', 'callback'] as const;

/** Null: not a button of an approval, pressed by a person. */
export function readPress(chat: ButtonChat, payload: unknown) {
  const { fields } = chat.buttons;
  const read = (name: string): string => textAt(chat, name, payload);
  const [, kind, id = ''] = BUTTON.exec(read('value')) ?? [];
  const values = VALUES.flatMap((key) => (fields[key] === undefined ? [] : [[key, read(key)] as const]));
  const person = read('person');
  if (kind === undefined || !PERSON.test(person) || values.some(([, value]) => value === '')) return null;
  const name = printableStart(read('name').replace(UNSAFE, '').trim(), MOST_NAME);
  return {
    approve: kind === 'a',
    /** Of the approval. */
    id,
    person,
    by: actor(chat.name, name === '' ? person : `${person} (${name})`),
    isBot: read('bot') === 'true',
    accounts: (fields.account ?? []).map((path) => printed(linkReader(path)(payload))).filter((text) => text !== ''),
    chat: read('chat'),
    values: { ...NO_VALUES, address: new Map(values) } satisfies Values,
  };
}

export type Press = NonNullable<ReturnType<typeof readPress>>;

/** The first value of a field; empty: none. */
export const textAt = ({ buttons }: ButtonChat, name: string, payload: unknown): string =>
  (buttons.fields[name] ?? []).map((path) => printed(linkReader(path)(payload))).find((text) => text !== '') ?? '';

export const printed = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
