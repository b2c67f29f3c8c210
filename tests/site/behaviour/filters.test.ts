import { ask, closeGarden, idsOf } from './garden.js';

afterAll(closeGarden);

const ALL = ['p0', 'p1', 'p2', 'p3', 'p4'];

describe('a filter of plugins', () => {
  test.each([
    ['eq is strict', 'version: {eq: "1"}', ['p0']],
    ['eq is case-sensitive', 'name: {eq: "b"}', []],
    ['eq against null and missing values does not hold', 'packageJson: {main: {eq: "m"}}', ['p1']],
    ['eq null holds for a stored null', 'name: {eq: null}', ['p2']],
    ['eq null holds where the path breaks off', 'packageJson: {main: {eq: null}}', ['p0', 'p2']],
    ['eq null does not hold for an empty list', 'nodeAPIs: {eq: null}', ['p2', 'p3']],
    ['ne holds for other values, null and missing ones', 'name: {ne: "a"}', ['p1', 'p2', 'p3', 'p4']],
    ['ne holds where the path breaks off', 'packageJson: {name: {ne: "a"}}', ['p1', 'p2', 'p4']],
    ['ne null holds for every value', 'name: {ne: null}', ['p0', 'p1', 'p3', 'p4']],
    ['ne is the opposite of eq on a list, an empty one too', 'nodeAPIs: {ne: "y"}', ['p1', 'p2', 'p3']],
    ['in holds for any of its values', 'name: {in: ["a", "B"]}', ['p0', 'p1']],
    ['in of nothing holds for nothing', 'name: {in: []}', []],
    ['in takes one bare value as a list', 'name: {in: "a"}', ['p0']],
    ['in holds for null only if null is listed', 'name: {in: ["a", null]}', ['p0', 'p2']],
    ['in does not hold for an empty list', 'nodeAPIs: {in: [null, "x"]}', ['p0', 'p2', 'p3']],
    ['nin of nothing holds for all', 'name: {nin: []}', ALL],
    ['nin holds for null unless null is listed', 'name: {nin: ["a"]}', ['p1', 'p2', 'p3', 'p4']],
    ['nin with null listed leaves missing values out', 'packageJson: {main: {nin: [null, "m"]}}', ['p3', 'p4']],
    ['nin holds for an empty list', 'nodeAPIs: {nin: ["x", null]}', ['p1', 'p4']],
    ['regex does not match null', 'name: {regex: "/.*/"}', ['p0', 'p1', 'p3', 'p4']],
    ['regex does not take null for a text', 'name: {regex: "/null/"}', []],
    ['glob does not match null', 'name: {glob: "*"}', ['p0', 'p1', 'p3', 'p4']],
    ['a list matches by any of its elements', 'nodeAPIs: {eq: "y"}', ['p0', 'p4']],
    ['a record appears once, however many elements match', 'nodeAPIs: {regex: "/x|y/"}', ['p0', 'p4']],
    ['several operators on one field hold together', 'name: {regex: "/^a/", ne: "a"}', ['p3', 'p4']],
    ['several fields hold together', 'name: {regex: "/^a/"}, version: {eq: "9"}', ['p4']],
    ['nested objects hold together', 'packageJson: {name: {eq: "a"}, main: {eq: "n"}}', ['p3']],
    [
      'elemMatch holds for one element as a whole',
      'packageJson: {dependencies: {elemMatch: {name: {eq: "d2"}, version: {eq: "1"}}}}',
      ['p3'],
    ],
    [
      'elemMatch with eq null holds for a missing list, not for an empty one',
      'packageJson: {dependencies: {elemMatch: {name: {eq: null}}}}',
      ['p2', 'p4'],
    ],
    [
      'elemMatch with a value does not hold for a missing list',
      'packageJson: {dependencies: {elemMatch: {name: {eq: "d1"}}}}',
      ['p0', 'p3'],
    ],
    ['elemMatch of nothing is no condition', 'packageJson: {dependencies: {elemMatch: {}}}', ALL],
    ['booleans are compared as they are', 'pluginOptions: {pathCheck: {eq: false}}', ['p1']],
    ['booleans take in, and null', 'pluginOptions: {pathCheck: {in: [true, null]}}', ['p0', 'p2', 'p3', 'p4']],
    ['or holds when one of its filters does', 'or: [{name: {eq: "a"}}, {version: {eq: null}}]', ['p0', 'p1']],
    ['not holds when its filter does not', 'not: {name: {regex: "/a/"}}', ['p1', 'p2']],
    ['an empty filter is no condition', '', ALL],
    ['a field with no operator is no condition', 'name: {}', ALL],
    ['a field that is null is no condition', 'name: null', ALL],
    ['an object that is null is no condition', 'packageJson: null', ALL],
    ['children that there are none of match nothing', 'children: {elemMatch: {id: {eq: null}}}', []],
    ['a parent that there is not counts as missing', 'parent: {id: {eq: null}}', ALL],
  ])('%s', async (_statement, filter, expected) => {
    expect(await idsOf(`SitePlugin(filter: {${filter}})`)).toEqual(expected);
  });

  test('a filter that is null is no condition', async () => {
    expect(await idsOf('SitePlugin(filter: null)')).toEqual(ALL);
  });

  test('an operator whose variable is unset is no condition', async () => {
    const { all } = await ask(
      'query ($value: String) { all: allSitePlugin(filter: {name: {eq: $value}}) { totalCount } }',
    );
    expect(all).toEqual({ totalCount: 5 });
  });

  test('an operator whose variable is null asks for null', async () => {
    expect(await idsOf('SitePlugin(filter: {name: {eq: $value}})', { value: null })).toEqual(['p2']);
  });

  test('the result is in creation order, whatever the filter', async () => {
    expect(await idsOf('SitePlugin(filter: {version: {in: ["9", "1", "10"]}})')).toEqual(['p0', 'p3', 'p4']);
  });
});

describe('a filter of files', () => {
  test.each([
    ['numbers are compared as numbers', 'size: {gt: 3, lte: 100}', ['f1', 'f3', 'f4']],
    ['gt, gte, lt and lte do not hold for a missing value', 'blocks: {lt: 10}', ['f0', 'f4']],
    ['gt null matches nothing', 'blocks: {gt: null}', []],
    ['lt null matches nothing', 'blocks: {lt: null}', []],
    ['gte null matches what is missing', 'blocks: {gte: null}', ['f1', 'f3']],
    ['lte null matches what is missing', 'blocks: {lte: null}', ['f1', 'f3']],
    ['dates are compared as text, so that a year is a bound', 'mtime: {gte: "2020"}', ['f2', 'f3', 'f4']],
    ['lte of a day leaves that day out', 'mtime: {lte: "2016-02-29"}', ['f0']],
    ['another spelling of the same instant is not equal', 'mtime: {eq: "2020-01-01T00:00:00.000+00:00"}', []],
    ['a date that is none is accepted', 'mtime: {gt: "junk"}', []],
    [
      'children are looked at through their elements',
      'children: {elemMatch: {internal: {type: {eq: "ImageProc"}}}}',
      ['f1'],
    ],
    ['the image of a file is a full record', 'childImageProc: {internal: {contentDigest: {eq: "c"}}}', ['f1']],
    ['a file without an image counts as missing there', 'childImageProc: {id: {eq: null}}', ['f0', 'f2', 'f3', 'f4']],
  ])('%s', async (_statement, filter, expected) => {
    expect(await idsOf(`File(filter: {${filter}})`)).toEqual(expected);
  });

  test('a link leads into the full record', async () => {
    expect(await idsOf('SitePage(filter: {pluginCreator: {nodeAPIs: {eq: "x"}}})')).toEqual(['s0']);
  });

  test('a parent is looked at through what every record has', async () => {
    expect(
      await idsOf('ImageProc(filter: {parent: {id: {eq: "f1"}, children: {elemMatch: {id: {eq: "i1"}}}}})'),
    ).toEqual(['i1']);
    await expect(idsOf('ImageProc(filter: {parent: {name: {eq: "two"}}})')).rejects.toThrow('"name" is not defined');
  });
});

describe('one record', () => {
  test.each([
    ['takes an argument for each field', 'sitePlugin(name: {eq: "B"})', 'p1'],
    ['takes several, which hold together', 'sitePlugin(name: {regex: "/a/"}, version: {eq: "9"})', 'p4'],
    ['takes nested ones', 'sitePlugin(packageJson: {main: {eq: "n"}})', 'p3'],
    ['is the first match in creation order', 'sitePlugin(version: {ne: null})', 'p0'],
    ['is the first record without an argument', 'sitePlugin', 'p0'],
    ['is the first record when every argument is null', 'sitePlugin(name: null)', 'p0'],
    ['is null when none matches', 'sitePlugin(name: {eq: "z"})', undefined],
  ])('%s', async (_statement, query, id) => {
    const { one } = await ask(`{ one: ${query} { id } }`);
    expect((one as { id: string } | null)?.id).toBe(id);
  });
});

describe('a filter is refused', () => {
  test.each([
    ['with a regex that is null', 'name: {regex: null}', 'Expected text for regex'],
    ['with a glob that is null', 'name: {glob: null}', 'Expected text for glob'],
    ['with a regex that has no slashes', 'name: {regex: "an"}', 'as its flags'],
    ['with a regex that has one slash before it', 'name: {regex: "/an"}', 'as its flags'],
    ['with a bad regex', 'name: {regex: "/(/"}', 'Unterminated group'],
    ['with a number for text', 'name: {eq: 1}', 'String cannot represent a non string value: 1'],
    ['with an operator that there is not', 'name: {like: "a"}', 'Field "like" is not defined'],
    ['with a field that there is not, and a suggestion', 'nam: {eq: "a"}', 'Did you mean "name"'],
    ['with an operator twice', 'name: {eq: "a", eq: "b"}', 'There can be only one input field named "eq"'],
    ['with gt for text', 'name: {gt: "a"}', 'Field "gt" is not defined'],
    [
      'with elements of a list of objects but by elemMatch',
      'packageJson: {dependencies: {name: {eq: "d1"}}}',
      'is not defined',
    ],
  ])('%s', async (_statement, filter, message) => {
    await expect(idsOf(`SitePlugin(filter: {${filter}})`)).rejects.toThrow(message);
  });

  test.each([
    ['with text for a number', 'size: {eq: "2"}', 'Expected a whole number; received "2"'],
    ['with a fraction for a whole number', 'size: {eq: 2.5}', 'Expected a whole number; received 2.5'],
    ['with a number beyond 53 bits', 'size: {eq: 9007199254740992}', 'Expected a whole number'],
    ['with a number for a date', 'mtime: {gt: 2019}', 'Expected a date as text'],
    ['with regex for a date', 'mtime: {regex: "/2/"}', 'Field "regex" is not defined'],
  ])('%s', async (_statement, filter, message) => {
    await expect(idsOf(`File(filter: {${filter}})`)).rejects.toThrow(message);
  });
});
