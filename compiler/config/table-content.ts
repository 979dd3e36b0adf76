/** The route table before it is written: all of it but the two fields that describe the file. */
import type { RouteTable } from '../../schemas/generated/types.ts';

export type TableContent = Omit<RouteTable, 'format' | 'hash'>;
