/** The content of the route table, without the two fields that describe the file. */
import type { RouteTable } from '../../schemas/generated/types.ts';

export type TableContent = Omit<RouteTable, 'format' | 'hash'>;
