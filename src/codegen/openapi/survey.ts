import { METHODS } from './document.js';
import type { HttpMethod } from './document.js';
import { follow } from './references.js';
import type { Sources } from './references.js';
import { child, entries, findText, items } from './source.js';
import type { Place } from './source.js';

/** The operations of a contract where they stand, whether they are sound or not. */
export interface Survey {
  readonly sources: Sources;
  readonly root: Place;
  readonly operations: readonly SurveyedOperation[];
}

export interface SurveyedOperation {
  readonly method: HttpMethod;
  readonly path: string;
  readonly place: Place;
  /** Those of the path, then its own, behind their references; those that lead nowhere are left out. */
  readonly parameters: readonly SurveyedParameter[];
}

export interface SurveyedParameter {
  readonly name: string | undefined;
  readonly in: string | undefined;
  /** Where the operation or its path mentions it. */
  readonly mention: Place;
  /** Where it is described: at the mention, or in the components. */
  readonly place: Place;
  /** Said by the path, for all its operations. */
  readonly isShared: boolean;
}

/** Walks through the paths of a contract. */
export function surveyOperations(sources: Sources, root: Place): Survey {
  const operations = entries(child(root, 'paths')).flatMap(([path, item]) =>
    METHODS.filter((method) => child(item, method).value !== undefined).map((method) => {
      const place = child(item, method);
      const shared = surveyParameters(sources, item, true);
      return { method, path, place, parameters: [...shared, ...surveyParameters(sources, place, false)] };
    }),
  );
  return { sources, root, operations };
}

function surveyParameters(sources: Sources, parent: Place, isShared: boolean): SurveyedParameter[] {
  return items(child(parent, 'parameters')).flatMap((mention) => {
    const place = follow(sources, mention);
    if (place === undefined) return [];
    return [{ name: findText(place, 'name'), in: findText(place, 'in'), mention, place, isShared }];
  });
}
