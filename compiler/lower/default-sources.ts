/** Lowers the catalog's defaults for routes without `source:`, which choose by request headers (§5, §6). */
import type { LocatorPlan, RouteTable, SchemePlan, SourceFile } from '../../schemas/generated/types.ts';
import { lowerLocators } from './locator.ts';

export type DefaultSources = Pick<RouteTable, 'default_schemes' | 'default_event' | 'default_delivery'>;

export interface LoweredSource {
  readonly name: string;
  readonly file: SourceFile;
  readonly plan: SchemePlan;
}

/** §6.1: payload fields for the event type if no header has it. */
const EVENT_FIELDS = ['event_type', 'type'];
/** §6.2: the last header that is tried for a delivery id. */
const REQUEST_ID = 'x-request-id';

/** Orders schemes and event headers by `precedence`, and delivery headers by `delivery_precedence`. */
export function lowerDefaultSources(sources: readonly LoweredSource[]): DefaultSources {
  const chosen = ranked(sources, (file) => file.precedence);
  const delivering = ranked(sources, (file) => file.delivery_precedence);
  return {
    default_schemes: chosen.map(({ name }) => name),
    default_event: [...headersOf(chosen.flatMap(({ plan }) => plan.event)), ...EVENT_FIELDS.map(jsonPlace)],
    default_delivery: unique([...deliveryHeaders(delivering), headerPlace(REQUEST_ID)]),
  };
}

function ranked(sources: readonly LoweredSource[], rank: (file: SourceFile) => number | undefined): LoweredSource[] {
  return sources
    .flatMap((source) => {
      const at = rank(source.file);
      return at === undefined ? [] : [{ source, at }];
    })
    .sort((a, b) => a.at - b.at || (a.source.name < b.source.name ? -1 : 1))
    .map(({ source }) => source);
}

function headersOf(places: readonly LocatorPlan[]): LocatorPlan[] {
  return unique(places.filter((place) => place.in === 'header'));
}

/** Reads the headers from the files, because the plan of a source with a signed id omits them. */
function deliveryHeaders(sources: readonly LoweredSource[]): LocatorPlan[] {
  const places = sources.flatMap(({ file }) => lowerLocators(file.delivery, ['delivery'], () => {}));
  return headersOf(places).filter(({ name }) => name !== REQUEST_ID);
}

function unique(places: readonly LocatorPlan[]): LocatorPlan[] {
  return [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
}

function headerPlace(name: string): LocatorPlan {
  return { in: 'header', name, path: [], split: '', prefix: '' };
}

function jsonPlace(field: string): LocatorPlan {
  return { in: 'json', name: '', path: [field], split: '', prefix: '' };
}
