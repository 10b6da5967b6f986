// What sessions can read beyond the formats of base/: model files, and what is compressed.
#ifndef LEAT_SESSION_DATA_FILES_H
#define LEAT_SESSION_DATA_FILES_H

void leat_session_extend_data_files(void); // for the process; again is fine

#endif
