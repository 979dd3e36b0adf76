/** Prints a filter's field as it is written in a config, for findings and reports. */
import type { FieldPlan } from '../../schemas/generated/types.ts';

const PREFIXES: Readonly<Record<FieldPlan['in'], string>> = {
  event: 'event',
  header: 'headers.',
  payload: 'payload.',
  root: '',
};

export const printField = ({ in: place, path }: FieldPlan): string => PREFIXES[place] + path.join('.');
