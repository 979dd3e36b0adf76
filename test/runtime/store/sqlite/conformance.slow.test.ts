/** The conformance tests on SQLite, with all runs of the properties. */
import { storeConformance } from '../conformance/conformance.ts';
import { sqliteSubject } from './subject.ts';

storeConformance(sqliteSubject, ['models', 'equivalence']);
