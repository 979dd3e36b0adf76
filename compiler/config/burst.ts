/** `coalesce.keep: all`: the run of a burst gets all of its events. */
import type { RouteConfig } from '../../schemas/generated/types.ts';

/** The placeholder of their list in a prompt. */
export const EVENTS = '{events}';

export const keepsAll = ({ coalesce }: Pick<RouteConfig, 'coalesce'>): boolean => coalesce?.keep === 'all';
