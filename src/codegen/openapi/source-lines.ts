import type { Location } from '../contract-error.js';
import { handlersName, inputName, outputName, pascal } from './names.js';
import { child, entries, findTextField, items, locateNode } from './document-node.js';
import type { OperationIndex } from './operation-index.js';
import type { ValidatorNames } from './validator-names.js';

/** Maps the names in generated text to the contract lines that they come from. */
export function mapServiceSourceLines(
  survey: OperationIndex,
  { requests, responses }: ValidatorNames,
): ReadonlyMap<string, Location> {
  const origins = new Map<string, Location>();
  for (const source of [...survey.sources.values()].reverse()) {
    for (const [name, schema] of entries(child(child(source, 'components'), 'schemas'))) {
      origins.set(name, locateNode(schema, 'key'));
    }
  }
  for (const tag of items(child(survey.root, 'tags'))) {
    origins.set(handlersName(findTextField(tag, 'name') ?? ''), locateNode(child(tag, 'name')));
  }
  for (const { place } of survey.operations) {
    const id = findTextField(place, 'operationId') ?? '';
    const location = locateNode(child(place, 'operationId'));
    const derived = [...requests, ...responses].filter(([key]) => key.startsWith(`${id} `)).map(([, name]) => name);
    for (const name of [
      id,
      inputName(pascal(id)),
      outputName(pascal(id)),
      ...derived.filter((text) => text.startsWith(id)),
    ]) {
      origins.set(name, location);
    }
  }
  return origins;
}
