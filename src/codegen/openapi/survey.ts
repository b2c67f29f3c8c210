import { METHODS } from './document.js';
import type { HttpMethod } from './document.js';
import { follow } from './references.js';
import type { Sources } from './references.js';
import { child, entries, findText, items } from './source.js';
import type { Place } from './source.js';

/** The operations of a contract with their places, before they are checked. */
export interface Survey {
  readonly sources: Sources;
  readonly root: Place;
  readonly operations: readonly SurveyedOperation[];
}

export interface SurveyedOperation {
  readonly method: HttpMethod;
  readonly path: string;
  readonly place: Place;
  /** The parameters of the path, then those of the operation, without broken references. */
  readonly parameters: readonly SurveyedParameter[];
}

export interface SurveyedParameter {
  readonly name: string | undefined;
  readonly in: string | undefined;
  /** The parameter or reference in the list of the operation or its path. */
  readonly mention: Place;
  /** The description of the parameter: the mention itself, or the component that it refers to. */
  readonly place: Place;
  /** Whether the path declares it, for all its operations. */
  readonly isShared: boolean;
}

/** Collects the operations of a contract. */
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
