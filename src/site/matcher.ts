/**
 * Tests a text against a pattern of a caller, in time that is linear in the text.
 *
 * @param check Called now and then in a long text; an error that it throws ends the test.
 */
export type Matcher = (text: string, check?: () => void) => boolean;
