import type { Stub } from '../generated.js';
import type { Contract } from './contract.js';
import { camel, handlersName, kebab } from './names.js';

/** A file for each tag, with a handler for each operation that says it is not written yet. */
export function writeStubs({ service, tags }: Contract): readonly Stub[] {
  return tags.map(({ name, operations }) => {
    const exportName = `${camel(name)}Handlers`;
    const type = handlersName(name);
    return {
      file: `src/handlers/${service}/${kebab(name)}.ts`,
      header: `import type { ${type} } from '../../generated/${service}/operations.js';\n\nexport const ${exportName} = (): ${type} => ({\n`,
      footer: '});\n',
      exportName,
      use: {
        file: `src/handlers/${service}/handlers.ts`,
        lines: [`import { ${exportName} } from './${kebab(name)}.js';`, `...${exportName}(),`],
      },
      members: operations.map(({ id }) => ({
        name: id,
        text: `async ${id}() {\n  throw new Error('${id} is not written yet.');\n},`,
      })),
    };
  });
}
