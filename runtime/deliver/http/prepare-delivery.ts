/** What the pieces of a delivery over HTTP share: its address, the form of its request, its text in pieces, and its content. */
import { createHash } from 'node:crypto';
import type { Addressed, DeliveryRequest } from '../deliverer.ts';
import type { BoundTarget } from '../driver.ts';
import { prepareText, quietText } from '../text/prepare-text.ts';
import type { LinkedRequest, LinkedVariant, PickRequest } from './link-variant.ts';
import type { Values } from './values.ts';
import { DeliveryRefusal } from './values.ts';

/** Everything that the pieces of a delivery share. */
export interface PreparedDelivery {
  readonly form: NonNullable<ReturnType<PickRequest>>;
  readonly address: Values['address'];
  readonly pieces: readonly string[];
  readonly content: Values['content'];
  /** The request that replaces a post; null: it is left as it is. */
  readonly update: LinkedRequest | null;
  /** The id of the series that is kept in one post; null: every piece is posted. */
  readonly series: string | null;
}

type Entry = Readonly<Record<string, string | number>>;

/** @throws DeliveryRefusal */
export async function prepareDelivery(
  target: BoundTarget,
  variant: LinkedVariant,
  request: DeliveryRequest,
): Promise<PreparedDelivery> {
  const prepared = prepareAddress(variant, request);
  if (typeof prepared === 'string') throw new DeliveryRefusal(prepared);
  const { address } = prepared;
  const isUpsert = address.get('mode') === 'upsert' && variant.pickUpdate !== null;
  const update = isUpsert ? (variant.pickUpdate?.(address)?.request ?? null) : null;
  const { series: name } = request;
  const series = isUpsert && name !== undefined ? seriesAt(name, prepared.form.match, address) : null;
  const all = { ...prepared, update, series, content: await readContent(target, variant, request, address) };
  // An output of a target that needs no text may have none.
  if (request.content !== undefined && request.text === '') return { ...all, pieces: [''] };
  const { text } = variant.plan;
  const pieces = await prepareText(series === null ? text : { ...text, overflow: 'truncate' }, request.text);
  if (pieces.kind === 'refused') throw new DeliveryRefusal(pieces.reason);
  return { ...all, pieces: pieces.pieces };
}

/** What an agent has filled, with its texts changed as the target says. */
async function readContent(
  target: BoundTarget,
  variant: LinkedVariant,
  { content = {} }: DeliveryRequest,
  address: Values['address'],
): Promise<Values['content']> {
  const read: Record<string, Values['content'][string]> = {};
  for (const { name, required, members = [] } of target.plan.content ?? []) {
    const value = Object.hasOwn(content, name) ? content[name] : undefined;
    if (value === undefined && required && name !== 'text' && !address.has(name))
      throw new DeliveryRefusal(`the target needs \`${name}\`, which only an output has`);
    if (value === undefined) continue;
    const markup = new Set(members.filter(({ kind }) => kind === 'markup').map((member) => member.name));
    read[name] = markup.size === 0 ? value : await quietObjects(variant, value as readonly Entry[], markup);
  }
  return read;
}

function quietObjects(variant: LinkedVariant, value: readonly Entry[], markup: ReadonlySet<string>): Promise<Entry[]> {
  const quiet = async ([name, member]: readonly [string, string | number]): Promise<[string, string | number]> => [
    name,
    markup.has(name) ? await quietText(variant.plan.text, String(member)) : member,
  ];
  return Promise.all(
    value.map(async (entry) => Object.fromEntries(await Promise.all(Object.entries(entry).map(quiet)))),
  );
}

/** The address and the form of the request, or why there is none. */
export function prepareAddress(
  variant: LinkedVariant,
  request: Addressed,
): Pick<PreparedDelivery, 'form' | 'address'> | string {
  const address = variant.resolveAddress(request);
  if (typeof address === 'string') return address;
  const form = variant.pickRequest(address);
  return form === null ? noForm(address.has('chat_id')) : { form, address };
}

function noForm(hasChat: boolean): string {
  return hasChat ? 'chat_id does not have one of the forms that this target takes' : 'no chat_id and no home_channel';
}

/** The post of a series is looked for at its place: the same series has one at each. */
function seriesAt(name: string, match: Values['match'], address: Values['address']): string {
  const place = [...match, ...address].filter(([key]) => key !== 'mode');
  return createHash('sha256')
    .update(JSON.stringify([name, place]), 'utf8')
    .digest('hex')
    .slice(0, 32);
}
