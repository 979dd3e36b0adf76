/** The properties that every store has, on SQLite with all their runs. */
import { storeConformance } from '../conformance/conformance.ts';
import { sqliteSubject } from './subject.ts';

storeConformance(sqliteSubject, ['models', 'equivalence']);
